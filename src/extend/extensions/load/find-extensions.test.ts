import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../../store/testing/temp-folder.ts';
import { writeFiles } from '../testing/write-files.ts';
import { type ExtensionLocations, findExtensions } from './find-extensions.ts';

function setUp(files: Readonly<Record<string, string>>) {
  const root = tempFolder();
  mkdirSync(join(root, 'project'));
  writeFiles(root, files);
  const find = (locations: Partial<ExtensionLocations> = {}) => {
    const { found, warnings } = findExtensions({
      agentDir: join(root, 'agent'),
      cwd: join(root, 'project'),
      trusted: true,
      fromFlags: [],
      discover: true,
      ...locations,
    });
    return {
      found: found.map(({ path, baseDir, discoveredIn, ...rest }) => ({
        path: relative(root, path),
        baseDir: relative(root, baseDir),
        ...(discoveredIn === undefined ? {} : { discoveredIn: relative(root, discoveredIn) }),
        ...rest,
      })),
      paths: found.map(({ path }) => relative(root, path)),
      warnings: warnings.map((warning) => warning.replaceAll(`${root}/`, '')),
    };
  };
  return { root, find };
}

const manifest = (...extensions: string[]) => JSON.stringify({ pi: { extensions } });

it('empty folders yield no extensions and no warnings', () => {
  expect(setUp({}).find()).toEqual({ found: [], paths: [], warnings: [] });
});

it('project extensions come first, then those of the user, of packages and of flags', () => {
  const { root, find } = setUp({
    'agent/extensions/user.ts': '',
    'project/.pi/agent/extensions/second.ts': '',
    'project/.pi/extensions/first.ts': '',
    'named.ts': '',
    'packaged.ts': '',
  });
  const packaged = { path: join(root, 'packaged.ts'), scope: 'user', origin: 'package', baseDir: root } as const;

  const { found } = find({ fromFlags: ['../named.ts'], fromPackages: [packaged] });

  expect(found).toEqual([
    {
      path: 'project/.pi/extensions/first.ts',
      scope: 'project',
      origin: 'top-level',
      baseDir: 'project/.pi/extensions',
      discoveredIn: 'project/.pi',
    },
    {
      path: 'project/.pi/agent/extensions/second.ts',
      scope: 'project',
      origin: 'top-level',
      baseDir: 'project/.pi/agent/extensions',
      discoveredIn: 'project/.pi/agent',
    },
    {
      path: 'agent/extensions/user.ts',
      scope: 'user',
      origin: 'top-level',
      baseDir: 'agent/extensions',
      discoveredIn: 'agent',
    },
    { path: 'packaged.ts', scope: 'user', origin: 'package', baseDir: '' },
    { path: 'named.ts', scope: 'temporary', origin: 'top-level', baseDir: '' },
  ]);
});

it('the extensions of an untrusted project are ignored', () => {
  const { find } = setUp({ 'project/.pi/extensions/a.ts': '', 'agent/extensions/b.ts': '' });

  expect(find({ trusted: false }).paths).toEqual(['agent/extensions/b.ts']);
});

it('without discovery only the extensions of flags count', () => {
  const { find } = setUp({ 'agent/extensions/a.ts': '', 'project/.pi/extensions/b.ts': '', 'project/c.ts': '' });

  expect(find({ discover: false, fromFlags: ['c.ts'] }).paths).toEqual(['project/c.ts']);
});

it('files with a JavaScript or TypeScript ending are extensions, and no others', () => {
  const names = ['a.ts', 'b.js', 'c.mts', 'd.mjs', 'e.cjs', 'f.cts'];
  const others = ['g.d.ts', 'h.json', 'README.md', '.i.ts', 'node_modules/x/index.js', 'j.ts.bak', 'folder/other.ts'];
  const { find } = setUp(Object.fromEntries([...names, ...others].map((name) => [`agent/extensions/${name}`, ''])));

  expect(find()).toMatchObject({ paths: names.map((name) => `agent/extensions/${name}`), warnings: [] });
});

it('a folder stands for the files of its manifest, else for its index file', () => {
  const { find } = setUp({
    'agent/extensions/a/package.json': manifest('./src/one.ts', 'two.js'),
    'agent/extensions/a/src/one.ts': '',
    'agent/extensions/a/two.js': '',
    'agent/extensions/a/index.ts': '',
    'agent/extensions/b/package.json': '{"name": "b"}',
    'agent/extensions/b/index.js': '',
    'agent/extensions/b/index.ts': '',
    'agent/extensions/c/index.js': '',
    'agent/extensions/d/package.json': manifest(),
    'agent/extensions/d/index.ts': '',
  });

  expect(find().found).toMatchObject([
    { path: 'agent/extensions/a/src/one.ts', baseDir: 'agent/extensions/a' },
    { path: 'agent/extensions/a/two.js', baseDir: 'agent/extensions/a' },
    { path: 'agent/extensions/b/index.ts', baseDir: 'agent/extensions/b' },
    { path: 'agent/extensions/c/index.js', baseDir: 'agent/extensions/c' },
  ]);
});

it('a manifest may list folders and patterns', () => {
  const { find } = setUp({
    'agent/extensions/a/package.json': manifest('./more', 'src/*.ts', '!src/old.ts'),
    'agent/extensions/a/more/x.ts': '',
    'agent/extensions/a/more/y/index.ts': '',
    'agent/extensions/a/src/new.ts': '',
    'agent/extensions/a/src/old.ts': '',
    'agent/extensions/a/src/deep/other.ts': '',
  });

  expect(find().paths.map((path) => relative('agent/extensions/a', path))).toEqual([
    'more/x.ts',
    'more/y/index.ts',
    'src/new.ts',
  ]);
});

it('manifests that list each other or themselves end the search', () => {
  const { find } = setUp({
    'agent/extensions/a/package.json': manifest('../b', '.'),
    'agent/extensions/b/package.json': manifest('../a', './b.ts'),
    'agent/extensions/b/b.ts': '',
  });

  expect(find().paths).toEqual(['agent/extensions/b/b.ts']);
});

it('a flag may name a file, a package, a folder with an index or a folder of extensions', () => {
  const { root, find } = setUp({
    'one.js': '',
    'package/package.json': manifest('a.ts'),
    'package/a.ts': '',
    'indexed/index.ts': '',
    'indexed/other.ts': '',
    'several/x.ts': '',
    'several/y/index.js': '',
    'usual/extensions/z.ts': '',
    'usual/other.ts': '',
  });
  const named = [join(root, 'one.js'), '../package', '../indexed/', '../several', '../usual'];

  const { paths, warnings } = find({ fromFlags: named });

  expect(paths).toEqual([
    'one.js',
    'package/a.ts',
    'indexed/index.ts',
    'several/x.ts',
    'several/y/index.js',
    'usual/extensions/z.ts',
  ]);
  expect(warnings).toEqual([]);
});

it('a flag may name an installed package by its source', () => {
  const { find } = setUp({ 'agent/npm/node_modules/a/index.ts': '' });

  expect(find({ fromFlags: ['npm:a@1', 'npm:b'] })).toMatchObject({
    found: [{ path: 'agent/npm/node_modules/a/index.ts', scope: 'temporary' }],
    warnings: ['The package npm:b is not installed; it is ignored'],
  });
});

it('a leading ~ expands to the home folder', () => {
  const { warnings } = findExtensions({
    agentDir: '/no',
    cwd: '/no',
    trusted: true,
    fromFlags: ['~/no-such.ts'],
    discover: false,
  });

  expect(warnings).toEqual([`There is no extension at ${join(process.env['HOME'] ?? '', 'no-such.ts')}`]);
});

it('a file reached by several paths is listed once', () => {
  const { root, find } = setUp({ 'elsewhere/a.ts': '', 'project/.pi/extensions/b.ts': '' });
  symlinkSync(join(root, 'elsewhere/a.ts'), join(root, 'project/.pi/extensions/a.ts'));
  symlinkSync(join(root, 'project/.pi/extensions'), join(root, 'agent'));

  const { found } = find({ agentDir: root, fromFlags: ['../elsewhere/a.ts', '../elsewhere', '.pi/extensions/b.ts'] });

  expect(found.map(({ path, scope }) => [path, scope])).toEqual([
    ['project/.pi/extensions/a.ts', 'project'],
    ['project/.pi/extensions/b.ts', 'project'],
  ]);
});

it('a malformed manifest or missing file gives a warning, and the other extensions load', () => {
  const { root, find } = setUp({
    'agent/extensions/broken/package.json': '{',
    'agent/extensions/broken/index.ts': '',
    'agent/extensions/odd/package.json': '{"pi": {"extensions": "a.ts"}}',
    'agent/extensions/odd/index.ts': '',
    'agent/extensions/odder/package.json': '{"pi": 5}',
    'agent/extensions/gone/package.json': manifest('gone.ts'),
    'agent/extensions/good.ts': '',
    'project/empty/readme.txt': '',
    'project/.pi/extensions': 'a file',
  });
  symlinkSync(join(root, 'nowhere.ts'), join(root, 'agent/extensions/link.ts'));
  execFileSync('mkfifo', [join(root, 'agent/extensions/pipe.ts')]);

  const { paths, warnings } = find({ fromFlags: ['missing.ts', 'empty'] });

  expect(paths).toEqual([
    'agent/extensions/broken/index.ts',
    'agent/extensions/good.ts',
    'agent/extensions/odd/index.ts',
  ]);
  expect(warnings).toEqual([
    'project/.pi/extensions cannot be read (ENOTDIR)',
    expect.stringMatching(/^agent\/extensions\/broken\/package.json: .*; the file is ignored$/),
    'There is no extension at agent/extensions/gone/gone.ts',
    'agent/extensions/odd/package.json: pi.extensions must be a list of paths; it is ignored',
    'agent/extensions/odder/package.json: pi must be an object; it is ignored',
    'There is no extension at project/missing.ts',
    'There is no extension in project/empty',
  ]);
});
