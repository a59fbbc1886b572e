import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { example } from '../../support/agent/extensions.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';

const root = join(import.meta.dirname, '../../..');

/** The loader, bundled like tau and installed like a package. */
async function bundledLoader() {
  const home = newHome();
  const dist = join(home.root, 'package', 'dist');
  await build({
    entryPoints: [join(root, 'test/support/agent/loader-program.ts')],
    outdir: dist,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['jiti', '@vscode/ripgrep', 'sharp'],
    alias: { yaml: join(root, 'node_modules/yaml/browser/index.js') },
    logLevel: 'error',
  });
  mkdirSync(join(home.root, 'package', 'node_modules'));
  symlinkSync(join(root, 'node_modules', 'jiti'), join(home.root, 'package', 'node_modules', 'jiti'));
  const write = (name: string, text: string) => {
    writeFileSync(join(home.cwd, name), text);
    return join(home.cwd, name);
  };
  const cache = join(home.agentDir, 'cache', 'extensions');
  const run = async (...paths: string[]) => {
    const program = [process.execPath, join(dist, 'loader-program.mjs'), cache, ...paths];
    const { code, stdout, stderr } = await startProgram(home, program).finished;
    return {
      code,
      stdout,
      stderr,
      results: stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    };
  };
  return { cache, write, run };
}

it('output printed while an extension loads goes to stderr', async () => {
  const { write, run } = await bundledLoader();
  const printing = write(
    'chatty.ts',
    `import { execSync } from 'node:child_process';
     import fs, { writeSync } from 'node:fs';
     import './helper';
     console.log('by console');
     process.stdout.write('by stream');
     writeSync(1, 'by descriptor');
     fs.appendFileSync('/dev/stdout', 'by file');
     execSync('echo by child', { stdio: 'inherit' });
     export default () => { console.info('by factory'); return 'quiet'; };`,
  );
  write('helper.cjs', "require('fs').writeSync(1, 'by required'); console.log('by helper');");

  const { stdout, stderr, results } = await run(printing);

  expect(results).toEqual([{ result: 'quiet' }]);
  expect(stdout).not.toContain('by ');
  for (const way of ['console', 'stream', 'descriptor', 'file', 'child', 'factory', 'required', 'helper']) {
    expect(stderr).toContain(`by ${way}`);
  }
});

it('bundled modules resolve from the installation, and only new code is compiled', async () => {
  const { write, run, cache } = await bundledLoader();
  const text = `
    import { Type } from '@sinclair/typebox';
    import { StringEnum, getModel } from '@mariozechner/pi-ai';
    import { parseFrontmatter, VERSION } from '@mariozechner/pi-coding-agent';
    import { visibleWidth } from '@mariozechner/pi-tui';
    export default () => [
      Type.Object({ a: StringEnum(['x']) }).required, parseFrontmatter('---\\na: 1\\n---').frontmatter, typeof VERSION,
      visibleWidth('abc'), typeof getModel, Object.keys(process.getBuiltinModule('node:module').Module._cache).some((name) => /babel/.test(name)),
    ];`;
  const paths = [write('one.ts', text), write('two.mjs', text)];
  const result = (compiled: boolean) => ({ result: [['a'], { a: 1 }, 'string', 3, 'function', compiled] });

  const cold = await run(...paths);
  const warm = await run(...paths);
  writeFileSync(join(cache, 'half-written.js'), 'x');
  writeFileSync(paths[0] ?? '', `${text}\n// changed`);
  const changed = await run(...paths);

  expect(cold.results).toEqual([result(true), result(true)]);
  expect(warm.results).toEqual([result(false), result(false)]);
  expect(changed.results).toEqual([result(true), result(true)]);
  expect(readdirSync(cache)).toHaveLength(3);
});

it('an extension that fails to load does not stop the others', async () => {
  const { write, run } = await bundledLoader();
  const failing = [
    write('a.ts', 'throw new Error("no")'),
    write('b.ts', 'const = 1'),
    write('c.ts', 'export default 1'),
  ];
  const good = write('d.ts', 'export default () => "good"');

  const { code, results } = await run(...failing, '/no/such/file.ts', good);

  expect(results.map((outcome) => Object.keys(outcome)[0])).toEqual(['error', 'error', 'error', 'error', 'result']);
  expect(code).toBe(0);
});

it('several processes can load the same new extension at once', async () => {
  const { write, run, cache } = await bundledLoader();
  const path = write('one.ts', 'export default (): string => "one";');

  const runs = await Promise.all(Array.from({ length: 4 }, () => run(path)));

  expect(runs.map(({ results }) => results)).toEqual(runs.map(() => [{ result: 'one' }]));
  expect(readdirSync(cache)).toHaveLength(1);
  expect(execFileSync('find', [cache, '-perm', '/077'], { encoding: 'utf8' })).toBe('');
});

/** The code that V8 reports as run by a start with these arguments. */
async function loadedCode(...args: string[]): Promise<string[]> {
  const home = newHome();
  const folder = join(home.root, 'coverage');
  await runTau(home, ['--mode', 'rpc', '--no-session', ...args], {
    input: '{"type":"get_commands"}\n',
    env: { NODE_V8_COVERAGE: folder },
  });
  const reports = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  const urls: string[] = reports.flatMap(({ result }) => result.map(({ url }: { url: string }) => url));
  return urls.filter((url) => url.startsWith('file:')).map((url) => readFileSync(fileURLToPath(url), 'utf8'));
}

it('without extensions the extension code is not loaded', async () => {
  const holdsExtensions = (code: string) => code.includes('Extension does not export a valid factory function');

  const without = await loadedCode();
  const withExtension = await loadedCode('-e', example('extensions/permission-gate.ts'));

  expect(without.length).toBeGreaterThan(1);
  expect(without.filter(holdsExtensions)).toEqual([]);
  expect(withExtension.filter(holdsExtensions)).toHaveLength(1);
});
