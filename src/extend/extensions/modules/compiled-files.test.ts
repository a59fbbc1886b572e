import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../../store/testing/temp-folder.ts';
import { CompiledFiles, MAX_COMPILED_FILES } from './compiled-files.ts';

const source = (text: string, path = '/some/index.ts') => ({ path, text });

function cache() {
  const folder = join(tempFolder(), 'a', 'cache');
  const files = () => readdirSync(folder).map((name) => join(folder, name));
  const tamper = (code: string) => {
    for (const file of files()) writeFileSync(file, `${readFileSync(file, 'utf8').split('\n')[0]}\n${code}`);
  };
  return { folder, files, tamper, compile: (text: string) => CompiledFiles.in(folder).codeOf(source(text), 'import') };
}

it('an unchanged source is compiled once', () => {
  const { compile, tamper } = cache();

  const first = compile('export const x: number = 1;');
  tamper('kept');

  expect(first).toContain('exports.x = 1');
  expect(compile('export const x: number = 1;')).toBe('kept');
  expect(compile('export const x: number = 2;')).toContain('exports.x = 2');
});

it('the cache distinguishes paths and module modes', () => {
  const { folder } = cache();
  const files = CompiledFiles.in(folder);
  const text = "import './x'; import.meta.url;";

  const codes = [
    files.codeOf(source(text), 'import'),
    files.codeOf(source(text), 'require'),
    files.codeOf(source(text, '/other.ts'), 'import'),
  ];

  expect(new Set(codes).size).toBe(3);
  expect(codes[1]).toContain('require("./x")');
});

it('cached files are readable by their owner only', () => {
  const { folder, files, compile } = cache();
  compile('1;');

  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(files().map((file) => statSync(file).mode & 0o777)).toEqual([0o600]);
});

it('a cache folder that other users can write to is ignored', () => {
  const { folder, compile, tamper } = cache();
  compile('export const x = 1;');
  tamper('planted');
  for (const mode of [0o777, 0o720, 0o702]) {
    chmodSync(folder, mode);
    expect(compile('export const x = 1;')).toContain('exports.x = 1');
  }
});

it('a truncated cache file is compiled again', () => {
  const { files, compile } = cache();
  compile('export const x = 1;');
  for (const file of files()) writeFileSync(file, readFileSync(file, 'utf8').slice(0, 10));

  expect(compile('export const x = 1;')).toContain('exports.x = 1');
});

it('a source with a syntax error leaves no cache file', () => {
  const { folder, files, compile } = cache();

  expect(() => compile('let = ;')).toThrow(/\/some\/index.ts:1:\d+/);
  expect(existsSync(folder) ? files() : []).toEqual([]);
});

it('the cache removes its oldest files above the limit', () => {
  const { folder, files, compile } = cache();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let at = 0; at < MAX_COMPILED_FILES + 5; at++) {
    writeFileSync(join(folder, `${at}.js`), '');
    utimesSync(join(folder, `${at}.js`), at, at);
  }

  compile('export const x = 1;');

  expect(files()).toHaveLength(MAX_COMPILED_FILES);
  expect(existsSync(join(folder, '5.js'))).toBe(false);
  expect(existsSync(join(folder, '6.js'))).toBe(true);
});
