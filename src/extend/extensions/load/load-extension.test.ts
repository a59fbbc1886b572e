import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../store/testing/temp-folder.ts';
import type { ExtensionAPI } from '../extension-api.ts';
import { writeFiles } from '../testing/write-files.ts';
import { type LoadOptions, loadExtension } from './load-extension.ts';

const home = (agentDir: string) => ({ agentDir, shell: () => ({ cwd: agentDir, env: process.env, family: 'test' }) });

/** An extension with these files; the first is its main file. */
function extension(files: Readonly<Record<string, string>>) {
  const root = tempFolder();
  const folder = join(root, 'extension');
  writeFiles(folder, files);
  const path = join(folder, Object.keys(files)[0] ?? '');
  const load = (options: Partial<LoadOptions> = {}) =>
    loadExtension(
      { path, scope: 'user', origin: 'top-level', baseDir: folder },
      { cacheDir: join(root, 'cache'), ...home(root), ...options },
    );
  const run = async (options?: Partial<LoadOptions>) => (await load(options))({} as ExtensionAPI);
  return { root, folder, path, load, run };
}

describe('an extension may use', () => {
  it('TypeScript without type checking', async () => {
    const { run } = extension({
      'index.ts': `
        import type { ExtensionAPI } from '@mariozechner/pi-coding-agent';
        import { type Shape, area } from './area';
        import { Nothing } from './only-types';
        enum Colour { Red = 3, Green }
        abstract class Base<T> { constructor(protected readonly value: T) {} abstract get(): T }
        class Own extends Base<number> { get() { return this.value satisfies number } }
        const wrong: string = 5;
        let unused: Nothing | undefined;
        export default function (_pi: ExtensionAPI): unknown {
          return [Colour.Green, Colour[3], new Own(7).get(), area({ side: 3 } as Shape), wrong!, unused?.x];
        }`,
      'area.ts': 'export interface Shape { side: number }\nexport const area = ({ side }: Shape): number => side ** 2;',
      'only-types.ts': 'export interface Nothing { x?: number }',
    });

    expect(await run()).toEqual([4, 'Red', 7, 9, 5, undefined]);
  });

  it('imports of every kind of file, with or without file endings', async () => {
    const { run } = extension({
      'index.ts': `
        import a from './a';
        import { b } from './b.js';
        import * as c from './c';
        import data, { answer } from './data.json';
        import d, { named } from './d.cjs';
        import fs, { existsSync } from 'node:fs';
        import { sep } from 'path';
        export { b as again } from './b';
        export * from './c';
        export default async () => {
          const late = await import('./late.mjs');
          return [a, b, c.c, data.answer, answer, d.named, named, fs.existsSync === existsSync, sep, late.default];
        };`,
      'a.ts': "export default 'a';",
      'b.ts': "export const b: string = 'b';",
      'c/index.js': "export const c = 'c';",
      'data.json': '{"answer": 42}',
      'd.cjs': "exports.named = 'd';",
      'late.mjs': "export default 'late';",
    });

    expect(await run()).toEqual(['a', 'b', 'c', 42, 42, 'd', 'd', true, '/', 'late']);
  });

  it('an ES module with import.meta and top-level await', async () => {
    const { run, folder } = extension({
      'index.mjs': `
        import { readFile } from 'node:fs/promises';
        const text = await readFile(new URL('./note.txt', import.meta.url), 'utf8');
        const { url, dirname, filename } = import.meta;
        export default () => ({ text, url, dirname, filename, other: import.meta.resolve('./note.txt') });`,
      'note.txt': 'noted',
    });

    const url = (name: string) => pathToFileURL(join(folder, name)).href;
    expect(await run()).toEqual({
      text: 'noted',
      url: url('index.mjs'),
      dirname: folder,
      filename: join(folder, 'index.mjs'),
      other: url('note.txt'),
    });
  });

  it.each(['index.js', 'index.cjs'])('CommonJS in %s, with its module variables', async (name) => {
    const { run, folder } = extension({
      [name]: `#!/usr/bin/env node
        const { join } = require('node:path');
        const other = require('./other');
        const { Type } = require('typebox');
        const { StringEnum, nothing } = require('@mariozechner/pi-ai');
        module.exports = async () => [
          other(), join('a', 'b'), Type.String().type, StringEnum(['x']).enum, typeof nothing, require('./data.json').x,
          require.resolve('./other'), __filename, __dirname, module.exports.length, (await import('./late.mjs')).late,
        ];`,
      'other.ts': "import { late } from './late.mjs';\nmodule.exports = () => 'other ' + late;",
      'late.mjs': "export const late = 'late';",
      'data.json': '{"x": 1}',
    });

    const [first, ...rest] = (await run()) as unknown[];
    expect(first).toBe('other late');
    expect(rest).toEqual([
      'a/b',
      'string',
      ['x'],
      'function',
      1,
      join(folder, 'other.ts'),
      join(folder, name),
      folder,
      0,
      'late',
    ]);
  });

  it('packages from its own node_modules', async () => {
    const { run } = extension({
      'index.ts': `
        import modern, { name } from 'modern';
        import { part } from 'modern/part';
        import old, { late } from 'old';
        import wrapped from 'wrapped';
        import typed from 'typed';
        import { peer } from 'peer';
        import { own } from '#own';
        export default () => [modern(), name, part, old.late, late, wrapped, typed, peer, own];`,
      'package.json': '{"type": "module", "imports": {"#own": "./own.ts"}}',
      'own.ts': "export const own: string = 'own';",
      'node_modules/modern/package.json':
        '{"name": "modern", "type": "module", "exports": {".": {"import": "./main.js"}, "./part": "./part.js"}}',
      'node_modules/modern/main.js': "export default () => 'modern'; export const name = 'name';",
      'node_modules/modern/part.js': "export const part = 'part';",
      'node_modules/old/index.js': "const all = {}; all['la' + 'te'] = 'late'; module.exports = all;",
      'node_modules/wrapped/index.js':
        "Object.defineProperty(exports, '__esModule', { value: true }); exports.default = 'wrapped';",
      'node_modules/typed/package.json': '{"name": "typed", "main": "index.ts"}',
      'node_modules/typed/index.ts': "const typed: string = 'typed'; export default typed;",
      'node_modules/peer/package.json': '{"name": "peer", "type": "module", "main": "index.js"}',
      'node_modules/peer/index.js':
        "import { VERSION } from '@mariozechner/pi-coding-agent'; export const peer = typeof VERSION;",
    });

    expect(await run()).toEqual(['modern', 'name', 'part', 'late', 'late', 'wrapped', 'typed', 'string', 'own']);
  });

  it('modules that import each other', async () => {
    const { run } = extension({
      'index.ts': "import { a } from './a';\nexport const root = 'root';\nexport default () => a();",
      'a.ts': "import { b } from './b';\nexport const a = () => ['a', b()];",
      'b.ts':
        "import { root } from './index';\nimport { a } from './a';\nexport const b = () => ['b', root, typeof a];",
    });

    expect(await run()).toEqual(['a', ['b', 'root', 'function']]);
  });

  it('a module that is imported twice at once runs once, and both imports get all exports', async () => {
    const { run } = extension({
      'index.ts': `
        const [one, two] = await Promise.all([import('./slow'), import('./slow')]);
        export default () => [one.started, two.value];`,
      'slow.ts': `
        export let started = 0;
        started++;
        await new Promise((resolve) => setImmediate(resolve));
        export const value = 'whole';`,
    });

    expect(await run()).toEqual([1, 'whole']);
  });

  it('a linked file resolves its imports from its real folder', async () => {
    const { folder, root } = extension({ 'index.ts': '', 'real/index.ts': '' });
    writeFiles(root, {
      'elsewhere/it.ts': "import { near } from './near';\nexport default () => near;",
      'elsewhere/near.ts': "export const near = 'near';",
    });
    symlinkSync(join(root, 'elsewhere/it.ts'), join(folder, 'link.ts'));
    const source = { path: join(folder, 'link.ts'), scope: 'user', origin: 'top-level', baseDir: folder } as const;

    const factory = await loadExtension(source, { cacheDir: join(root, 'cache'), ...home(folder) });

    expect(factory({} as ExtensionAPI)).toBe('near');
  });
});

describe('a bundled pi package', () => {
  it('is found under all of its names, before an installed package', async () => {
    const { run } = extension({
      'index.ts': `
        import { VERSION as a } from '@mariozechner/pi-coding-agent';
        import { VERSION as b } from '@earendil-works/pi-coding-agent/dist/index.js';
        import { Type as c } from 'typebox';
        import d, { Type as e } from '@sinclair/typebox';
        import { Value as f } from '@sinclair/typebox/value';
        import { TypeCompiler as g } from '@sinclair/typebox/compiler';
        import { Compile as h } from 'typebox/compile';
        import { Type as i, complete } from '@earendil-works/pi-ai/compat';
        import { Text } from '@mariozechner/pi-tui';
        import { Agent } from '@mariozechner/pi-agent-core';
        export default () => {
          const schema = c.Object({ x: c.Optional(e.Number()) });
          return [a === b, c === i && e === c, d.String().type, f.Check(schema, { x: 1 }), g.Compile(schema).Check({ x: 'y' }),
            h(schema).Check({}), typeof complete, new Text('hi').render(10), typeof Agent];
        };`,
      'node_modules/typebox/index.js': "throw new Error('the wrong typebox')",
      'node_modules/@mariozechner/pi-coding-agent/index.js': "throw new Error('the real pi')",
    });

    expect(await run()).toEqual([true, true, 'string', true, false, true, 'function', ['hi'], 'function']);
  });

  it('answers any missing name of the terminal package with a placeholder', async () => {
    const { run } = extension({
      'index.ts': `
        import * as tui from '@mariozechner/pi-tui';
        import { CustomEditor } from '@mariozechner/pi-coding-agent';
        class Mine extends CustomEditor { handleInput(data: string) { super.handleInput(data); return 'mine'; } }
        class Other extends tui.SomeClass { field = 1; go() { return [this.field, super.go(), this instanceof tui.SomeClass]; } }
        export default async () => [
          new Mine().handleInput('x'), new Other().go(), tui.someFunction(1), tui.Some.thing.else(),
          await tui.SomeClass === tui.SomeClass, new tui.NotThere() instanceof tui.NotThere, tui.NotThere.name,
        ];`,
    });

    expect(await run()).toEqual(['mine', [1, undefined, true], undefined, undefined, true, true, 'NotThere']);
  });

  it.each(['pi-coding-agent', 'pi-ai', 'pi-agent-core'])('throws at the use of a missing name of %s', async (name) => {
    const { run } = extension({
      'index.ts': `
        import { SomeClass, someFunction, Some } from '@earendil-works/${name}';
        class Other extends SomeClass {}
        const thrownBy = (work) => { try { work(); } catch (error) { return error.message; } };
        export default async () => [() => new Other(), () => someFunction(1), () => Some.thing()].map(thrownBy);`,
    });

    expect(await run()).toEqual(
      ['SomeClass', 'someFunction', 'Some'].map((missing) => `${missing} is not available to extensions in tau`),
    );
  });

  it('throws for names that are unavailable inside an agent', async () => {
    const { run } = extension({
      'index.ts': `
        import { SessionManager, createAgentSession, SettingsManager } from '@mariozechner/pi-coding-agent';
        const thrownBy = (work) => { try { work(); } catch (error) { return error.message; } };
        export default () => [
          thrownBy(() => SessionManager.open('x')), thrownBy(() => createAgentSession({})), thrownBy(() => new SettingsManager()),
        ];`,
    });

    expect(await run()).toEqual(
      ['SessionManager', 'createAgentSession', 'SettingsManager'].map(
        (name) => `${name} is not available to extensions in tau`,
      ),
    );
  });

  it('returns the folder of the agent', async () => {
    const { run } = extension({
      'index.ts': "import { getAgentDir } from '@mariozechner/pi-coding-agent';\nexport default () => getAgentDir();",
    });

    expect(await run({ agentDir: '/some/folder' })).toBe('/some/folder');
  });
});

describe('a reload', () => {
  it.each([
    ['index.ts', 'other.ts', "export const word = 'WORD';"],
    ['index.mjs', 'other.mjs', "export const word = 'WORD';"],
    ['index.ts', 'other.cjs', "exports.word = 'WORD';"],
    ['index.ts', 'other.json', '{"word": "WORD"}'],
  ])('reads %s and %s again', async (entry, other, text) => {
    const code = (mark: number) => `import { word } from './${other}';\nexport default () => word + ${mark};`;
    const { folder, run } = extension({ [entry]: code(1), [other]: text.replace('WORD', 'before') });

    const before = await run();
    writeFiles(folder, { [other]: text.replace('WORD', 'after') });
    const after = await run();
    writeFiles(folder, { [entry]: code(2) });
    const last = await run();

    expect([before, after, last]).toEqual(['before1', 'after1', 'after2']);
  });

  it('starts with fresh module state', async () => {
    const { run } = extension({
      'index.ts': "import { count } from './count';\nexport default () => count();",
      'count.ts': 'let calls = 0;\nexport const count = () => ++calls;',
    });

    expect([await run(), await run()]).toEqual([1, 1]);
  });
});

describe('a failed load rejects with one line', () => {
  it.each([
    ['nothing', 'export const x = 1;'],
    ['no function', 'export default { handler() {} };'],
    ['nothing at all', ''],
    ['CommonJS without a function', 'module.exports = 5;'],
  ])('for a module that exports %s', async (_what, text) => {
    const { load, path } = extension({ 'index.js': text });

    await expect(load()).rejects.toThrow(`Extension does not export a valid factory function: ${path}`);
  });

  it.each([
    ['throw new Error("first\\nsecond");', 'first second'],
    ['throw "a word";', 'a word'],
    ['await Promise.reject(new Error("late"));', 'late'],
    ['import { x } from "./missing"; x();', "Cannot find module './missing' imported from PATH"],
    ['require("./missing");', "Cannot find module './missing' imported from PATH"],
    ['import "no-such-package";', "Cannot find package 'no-such-package' imported from PATH"],
    ['import "./broken.json";', expect.stringContaining('JSON')],
    ['import "./throws";', 'from inside'],
    ['const a = ;', expect.stringMatching(/^Unexpected token \(PATH:1:\d+\)$/)],
    ['import "./pipe";', "Cannot find module './pipe' imported from PATH"],
    ['undefined.x;', "Cannot read properties of undefined (reading 'x')"],
  ])('for %s', async (text, message) => {
    const { load, folder, path } = extension({
      'index.ts': text,
      'broken.json': '{',
      'throws.ts': 'throw new Error("from inside")',
    });
    execFileSync('mkfifo', [join(folder, 'pipe')]);

    const error = (await load().catch((thrown: unknown) => thrown)) as Error;

    expect(error.message.replaceAll(path, 'PATH')).toEqual(message);
    expect(error.message).not.toContain('\n');
  });

  it('for a missing file', async () => {
    const { load, path } = extension({});

    await expect(load()).rejects.toThrow(path);
  });

  it('again on every load until the file is fixed', async () => {
    const { load, run, folder } = extension({ 'index.ts': "import './a';", 'a.ts': 'throw new Error("broken")' });

    await expect(load()).rejects.toThrow('broken');
    await expect(load()).rejects.toThrow('broken');
    writeFiles(folder, { 'index.ts': "import './a';\nexport default () => 'right';", 'a.ts': '' });
    expect(await run()).toBe('right');
  });

  it('for a module that exceeds the load timeout', async () => {
    const { load } = extension({
      'index.ts': "await import('./never');",
      'never.ts': 'await new Promise(() => {});',
    });

    await expect(load({ timeoutMs: 20 })).rejects.toThrow(`it did not finish loading within 0.02 seconds`);
  });
});

it('an extension loads without a usable cache folder', async () => {
  const { root, run } = extension({ 'index.ts': 'export default (): number => 1;' });
  writeFileSync(join(root, 'cache'), 'a file');

  expect(await run()).toBe(1);
  expect(await run({ cacheDir: '/proc/no/such/place' })).toBe(1);
});
