// Builds dist/: the library as ES modules, the program as CommonJS with as few files to load as possible.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { build, transform } from 'esbuild';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const written = new Set();
const node = { platform: 'node', target: 'node20.19', minifySyntax: true, minifyWhitespace: true };
const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const external = Object.keys({ ...dependencies, ...optionalDependencies });
const bundle = {
  ...node,
  external,
  // Its Node build is CommonJS that requires built-in modules, which fails inside an ES module.
  alias: { yaml: join(root, 'node_modules/yaml/browser/index.js') },
  bundle: true,
  splitting: true,
  format: 'esm',
  logLevel: 'warning',
  write: false,
};

await buildSessionPage();
await buildServerPage();
copyCatalogue();
await buildLibrary();
const hub = await buildProgram();
write(join(dist, 'tau.cjs'), entryScript(hub));
chmodSync(join(dist, 'tau.cjs'), 0o755);
writeCompileCache(hub);
removeLeftovers();

/** Builds the page for exported sessions: one file that fetches nothing and runs only its own script. */
async function buildSessionPage() {
  const source = join(root, 'src/web/export');
  const { outputFiles } = await buildPage(join(source, 'main.ts'), {
    outdir: dist,
    format: 'iife',
    jsx: 'transform',
    jsxFactory: 'jsxElement',
    jsxFragment: 'jsxFragment',
    inject: [join(root, 'scripts/jsx.mjs')],
    plugins: [exportTokens(join(source, 'use-tokens.ts'))],
  });
  const [written, styled] = outputFiles.map(({ text }) => text.trim());
  const style = withShortProperties(styled);
  // Patterns in the script that match HTML comments must not open one.
  const script = written.replaceAll('<!--', '<\\x21--');
  if (/<\/(?:script|style)|<!--/i.test(script + style)) throw new Error('The page would end inside its own script');
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  const parts = {
    POLICY: policy.join('; '),
    '<!-- style -->': `<style>${style}</style>`,
    '<!-- session -->': '<script type="application/jsonl">\n%SESSION%\n</script>',
    '<!-- script -->': `<script>${script}</script>`,
  };
  // Line feeds and these end tags are optional.
  const page = readFileSync(join(source, 'page.html'), 'utf8').replaceAll(/\n|<\/(?:head|body|html)>/g, '');
  write(
    join(dist, 'session-page.html'),
    page.replaceAll(/POLICY|<!-- \w+ -->/g, (mark) => parts[mark] ?? mark),
  );
}

/** Shortens custom properties, which esbuild does not minify. */
function withShortProperties(style) {
  const names = [...new Set(style.match(/--[a-z][\w-]*/g))];
  return style
    .replaceAll(/--[\w-]+: [^;}]*/g, (property) => property.replaceAll(/([:,]) /g, '$1'))
    .replaceAll(/--[a-z][\w-]*/g, (name) => `--${names.indexOf(name).toString(36)}`);
}

/** Replaces the lazily loaded grammars of the server's page: a single file cannot load lazily. */
function exportTokens(path) {
  const setup = ({ onResolve }) => onResolve({ filter: /\/use-tokens\.ts$/ }, () => ({ path }));
  return { name: 'export-tokens', setup };
}

/** Builds the page of the server: files with hashed names that browsers cache, and an index that names them. */
async function buildServerPage() {
  const source = join(root, 'src/web/page');
  const outdir = join(dist, 'page');
  const { outputFiles, metafile } = await buildPage(join(source, 'main.ts'), {
    outdir,
    metafile: true,
    plugins: [await oneHub(join(source, 'page.tsx'))],
    format: 'esm',
    splitting: true,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
  });
  for (const { path, text } of outputFiles) write(path, text);
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({ name: basename(path), ...output }));
  const outputOf = (path) => outputs.find(({ entryPoint }) => entryPoint?.endsWith(path));
  const script = outputOf('/main.ts');
  const start = outputOf('/page.tsx');
  const style = outputs.find(({ name }) => name.endsWith('.css'));
  const staticImports = ({ imports }) => imports.filter(({ kind }) => kind === 'import-statement');
  const imported = [script, start].flatMap(staticImports).map(({ path }) => basename(path));
  const first = new Set([start.name, ...imported]);
  // Relative links: the page may be served below any path.
  const files = [
    `<link rel="stylesheet" href="${style.name}">`,
    ...[...first].map((name) => `<link rel="modulepreload" href="${name}">`),
    `<script type="module" src="${script.name}"></script>`,
  ].join('\n');
  const page = readFileSync(join(source, 'index.html'), 'utf8');
  write(join(outdir, 'index.html'), page.replace('<!-- files -->', files));
}

/** Bundles a page: its script, its style, then lazily loaded chunks. */
function buildPage(script, options) {
  return build({
    entryPoints: [script, join(dirname(script), 'page.css')],
    bundle: true,
    minify: true,
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: {},
    logLevel: 'warning',
    write: false,
    ...options,
  });
}

/** Copies the model lists with their licence. */
function copyCatalogue() {
  const source = join(root, 'catalogue');
  for (const name of readdirSync(source)) {
    write(join(dist, 'catalogue', name), readFileSync(join(source, name), 'utf8'));
  }
}

async function buildLibrary() {
  const { outputFiles } = await build({
    ...bundle,
    entryPoints: {
      index: join(root, 'src/index.ts'),
      protocol: join(root, 'src/protocol/index.ts'),
      client: join(root, 'src/client/index.ts'),
      'client-node': join(root, 'src/client/spawn.node.ts'),
    },
    outdir: dist,
    chunkNames: 'chunks/[name]-[hash]',
    sourcemap: 'linked',
  });
  for (const { path, text } of outputFiles) write(path, text);
}

/**
 * Bundles everything that is not loaded lazily into one CommonJS file, the hub, and returns its name. Loading a file
 * costs more than parsing it, and an ES module costs more than CommonJS.
 */
async function buildProgram() {
  const { outputFiles, metafile } = await build({
    ...bundle,
    entryPoints: { cli: join(root, 'src/cli/main.ts') },
    outdir: join(dist, 'cli'),
    chunkNames: '[name]-[hash]',
    plugins: [await oneHub(join(root, 'src/cli/main.ts'))],
    metafile: true,
  });
  const entry = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint === 'src/cli/main.ts');
  const [hub] = entry.imports.filter(({ kind }) => kind === 'import-statement');
  for (const { path, text } of outputFiles) {
    // This file only re-exports the hub.
    if (basename(path) === 'cli.js') continue;
    const { code } = await transform(text, {
      ...node,
      format: 'cjs',
      supported: { 'dynamic-import': false },
      define: { 'import.meta.dirname': '__dirname' },
    });
    write(path.replace(/\.js$/, '.cjs'), code.replaceAll(/require\("(\.[^"]+)\.js"\)/g, 'require("$1.cjs")'));
  }
  return basename(hub.path).replace(/\.js$/, '.cjs');
}

/** Makes every lazy module import the hub: esbuild writes one file per set of entries that reach a module. */
async function oneHub(entry) {
  const lazy = await lazyModules(entry);
  return {
    name: 'one-hub',
    setup({ onLoad }) {
      onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
        if (!lazy.has(path)) return undefined;
        const contents = `import ${JSON.stringify(entry)};\n${readFileSync(path, 'utf8')}`;
        return { contents, loader: extname(path).slice(1), resolveDir: dirname(path) };
      });
    },
  };
}

/** All lazily loaded modules. None may also be part of the hub, or esbuild would split the hub. */
async function lazyModules(entry) {
  const { metafile } = await build({ ...bundle, entryPoints: [entry], outdir: dist, metafile: true });
  const importsOf = (kind, path) =>
    metafile.inputs[path].imports.filter((one) => one.kind === kind && !one.external).map((one) => one.path);
  const inHub = new Set([relative(process.cwd(), entry)]);
  for (const path of inHub) for (const next of importsOf('import-statement', path)) inHub.add(next);
  const lazy = Object.keys(metafile.inputs).flatMap((path) => importsOf('dynamic-import', path));
  const lazyInHub = lazy.filter((path) => inHub.has(path));
  if (lazyInHub.length > 0) throw new Error(`Loaded lazily, and yet part of the hub: ${lazyInHub.join(', ')}`);
  return new Set(lazy.map((path) => resolve(path)));
}

/** The entry file. Node 22 caches compiled code itself; Node 20 uses the cache that `writeCompileCache` wrote. */
function entryScript(hubName) {
  return `#!/usr/bin/env node
'use strict';
const Module = module.constructor;
// An agent replaces \`process.exit\`, which extensions may call.
const exit = process.exit.bind(process);
const file = __dirname + '/cli/${hubName}';
let script;
if (Module.enableCompileCache) Module.enableCompileCache();
else {
  const { readFileSync } = require('node:fs');
  let cachedData;
  try {
    cachedData = readFileSync(file + '.cache');
  } catch {}
  script = new (require('node:vm').Script)(Module.wrap(readFileSync(file, 'utf8')), { filename: file, cachedData });
  const hub = new Module(file, module);
  hub.filename = file;
  hub.loaded = true;
  require.cache[file] = hub;
  script.runInThisContext()(hub.exports, (id) => hub.require(id), hub, file, __dirname + '/cli');
}
const { main } = script ? require.cache[file].exports : require(file);
if (require.main === module) {
  main(process.argv.slice(2)).then(
    (code) => exit(code),
    (error) => {
      process.stderr.write('tau: ' + ((error && error.stack) || error) + '\\n');
      exit(1);
    },
  );
} else module.exports = { main, script };
`;
}

/** Runs the program up to its first responses and caches the code compiled for them, for this version of Node. */
function writeCompileCache(hubName) {
  const cache = join(dist, 'cli', `${hubName}.cache`);
  rmSync(cache, { force: true });
  const program = `
    const { main, script } = require(${JSON.stringify(join(dist, 'tau.cjs'))});
    const keep = () => script && require('node:fs').writeFileSync(${JSON.stringify(cache)}, script.createCachedData());
    main(['--mode', 'rpc']).then(keep);`;
  const input = ['get_state', 'get_commands'].map((type) => `{"type":"${type}"}\n`).join('');
  const home = mkdtempSync(join(tmpdir(), 'tau-build-'));
  const env = { ...process.env, PI_CODING_AGENT_DIR: home };
  const { status, stderr } = spawnSync(process.execPath, ['-e', program], { input, env, encoding: 'utf8' });
  rmSync(home, { recursive: true });
  if (status !== 0) throw new Error(`The program that was built does not run: ${stderr}`);
  written.add(cache);
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  written.add(path);
}

/** Removes files of earlier builds last, so that a program that starts meanwhile finds all its files. */
function removeLeftovers() {
  for (const folder of ['catalogue', 'chunks', 'cli', 'page']) {
    for (const name of readdirSync(join(dist, folder))) {
      if (!written.has(join(dist, folder, name))) rmSync(join(dist, folder, name));
    }
  }
}
