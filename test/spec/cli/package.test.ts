import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../../..');

it('[Z84] the only command of the package is tau: an installed pi stays as it is', () => {
  expect(packageJson.bin).toEqual({ tau: 'dist/tau.cjs' });
  expect(readFileSync(join(root, packageJson.bin.tau), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  expect(statSync(join(root, packageJson.bin.tau)).mode & 0o111).toBe(0o111);
});

it('the package contains the required files and no others', () => {
  const paths = packedFiles();

  const others = paths.filter((path) => !/^(dist|docs|examples|deploy)\//.test(path)).sort();
  const pages = ['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'package.json'];
  expect(others).toEqual(pages);
  expect(paths).toEqual(expect.arrayContaining([...published()]));
  for (const path of paths) expect(path).not.toMatch(/\.test\.|test\/|fixtures|\.wire-log|\.tsbuildinfo/);
});

it('the package contains the whole model catalogue with its licence', () => {
  const source = join(root, 'catalogue');
  const names = readdirSync(source);
  const shipped = packedFiles().filter((path) => path.startsWith('dist/catalogue/'));

  expect(names).toEqual(expect.arrayContaining(['README.md', 'anthropic.json', 'openai.json']));
  expect(shipped.sort()).toEqual(names.map((name) => `dist/catalogue/${name}`).sort());
  expect(readFileSync(join(root, 'dist/catalogue/README.md'), 'utf8')).toContain('Copyright (c)');
});

it('every link in the pages of the package points into the package', () => {
  const paths = packedFiles();
  const missing = paths
    .filter((path) => path.endsWith('.md'))
    .flatMap((page) => linksIn(page).map((link) => ({ page, link })))
    .filter(({ link }) => !paths.some((path) => path === link || path.startsWith(`${link}/`)));

  expect(missing).toEqual([]);
});

it('the only dependencies are ripgrep, jiti, ws and optionally sharp', () => {
  expect(Object.keys(packageJson.dependencies)).toEqual(['@vscode/ripgrep', 'jiti', 'ws']);
  expect(Object.keys(packageJson.optionalDependencies)).toEqual(['sharp']);
});

it('every entry point of the package can be imported and has types', async () => {
  const entryPoints = Object.keys(packageJson.exports).filter((entryPoint) => entryPoint !== './package.json');
  const specifiers = entryPoints.map((entryPoint) => join(packageJson.name, entryPoint));
  const importAll = `for (const name of ${JSON.stringify(specifiers)}) console.log(Object.keys(await import(name)).join(' '))`;

  const output = execFileSync(process.execPath, ['--input-type=module', '-e', importAll], {
    cwd: root,
    encoding: 'utf8',
  });

  const [main = '', protocol = '', client = '', node = ''] = output.split('\n');
  expect(entryPoints).toEqual(['.', './protocol', './client', './client/node']);
  expect(main.split(' ')).toEqual(
    expect.arrayContaining(['AgentClient', 'CommandFailed', 'ConnectionLost', 'openAgent', 'createAgentSession']),
  );
  expect(protocol.split(' ')).toEqual(expect.arrayContaining(['check', 'commandRows', 'errorCodes']));
  expect(client.split(' ')).toEqual(
    expect.arrayContaining(['AgentClient', 'CommandFailed', 'ConnectionLost', 'reduce']),
  );
  expect(node.split(' ')).toEqual(expect.arrayContaining(['connectAgent', 'spawnAgent']));
});

it.each([['dist/client.js'], ['dist/protocol.js']])(
  '[V13] %s runs in a browser: it imports no Node module',
  (entry) => {
    const graph = importsOf(entry);

    expect(graph.files.size).toBeGreaterThan(1);
    expect(graph.outside).toEqual([]);
  },
);

it('[V13] the Node part of the client imports only node: modules and ws', () => {
  const { outside } = importsOf('dist/client-node.js');

  expect(outside.length).toBeGreaterThan(0);
  expect(outside.filter((specifier) => !isBuiltin(specifier))).toEqual(['ws']);
});

/** The files that package.json names. */
function* published(): Generator<string> {
  yield packageJson.bin.tau;
  for (const entryPoint of Object.values(packageJson.exports)) {
    if (typeof entryPoint === 'string') continue;
    for (const path of Object.values(entryPoint)) {
      const file = normalize(path);
      expect(existsSync(join(root, file)), file).toBe(true);
      yield file;
    }
  }
}

/** All files of a bundle, and its imports from outside the package. */
function importsOf(entry: string): { files: Set<string>; outside: string[] } {
  const files = new Set<string>();
  const outside: string[] = [];
  const visit = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    const code = readFileSync(join(root, file), 'utf8');
    for (const [, specifier = ''] of code.matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*"([^"]+)"/g)) {
      if (specifier.startsWith('.')) visit(relative(root, join(root, dirname(file), specifier)));
      else outside.push(specifier);
    }
  };
  visit(entry);
  return { files, outside };
}

function packedFiles(): readonly string[] {
  packed ??= packFiles();
  return packed;
}

let packed: readonly string[] | undefined;

function packFiles(): readonly string[] {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  });
  const [{ files }] = JSON.parse(output) as [{ files: { path: string }[] }];
  return files.map(({ path }) => path);
}

/** The files that a page links to. */
function linksIn(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/\]\(([^)#:]+)(#[^)]*)?\)/g)].map(([, link = '']) => join(dirname(page), link));
}
