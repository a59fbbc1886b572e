import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileGlob, nameGlob, pathGlob } from './glob.ts';

describe('a pattern for names', () => {
  it.each([
    ['a.ts', ['a.ts'], ['b.ts', 'xa.ts', 'a.tsx']],
    ['*', ['', 'a', '.hidden'], []],
    ['*.ts', ['a.ts', '.ts'], ['a.tsx', 'ts']],
    ['a*b*c', ['abc', 'aXbXbXc'], ['ab', 'abcX', 'acb']],
    ['?', ['a', '界', '🙂'], ['', 'ab']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x', '-x']],
    ['[!a-c]x', ['dx'], ['ax']],
    ['[^a]', ['b'], ['a']],
    ['[]a]', [']', 'a'], ['b']],
    ['[a-]', ['a', '-'], ['b']],
    ['[[:digit:]_]', ['7', '_'], ['a', ':', 'd']],
    ['[[:toString:]_]', ['_'], ['t', ':']],
    ['\\*', ['*'], ['a', '\\*']],
    ['\\[a]', ['[a]'], ['a']],
    ['[\\]]', [']'], ['\\']],
    ['[a', [], ['[a', 'a']],
    ['a\\', [], ['a', 'a\\']],
    ['a.c', ['a.c'], ['abc']],
    ['(a|b)+$', ['(a|b)+$'], ['a']],
  ])('%s', (pattern, matching, others) => {
    const matches = nameGlob(pattern);

    expect(matching.filter((name) => !matches(name))).toEqual([]);
    expect(others.filter(matches)).toEqual([]);
  });

  it('[T28] matches a hostile pattern quickly', () => {
    expect(nameGlob(`${'*a'.repeat(120)}*b`)('a'.repeat(255))).toBe(false);
  });

  it('matches every name joined from its parts', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '.') })), (parts) => {
        expect(nameGlob(parts.join('*'))(parts.join('ab'))).toBe(true);
      }),
    );
  });
});

describe('a pattern for paths', () => {
  it.each([
    ['a/b', ['a/b'], ['b', 'x/a/b', 'a/b/c']],
    ['a/*', ['a/b'], ['a', 'a/b/c']],
    ['**/b', ['b', 'a/b', 'x/a/b'], ['b/c']],
    ['a/**', ['a/b', 'a/b/c'], ['a', 'b/a/c']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a', 'b', 'a/bb']],
    ['**/a/**/b/*.ts', ['a/b/x.ts', 'z/a/y/b/x.ts'], ['a/x.ts', 'b/x.ts']],
    ['a**/b', ['a/b', 'ax/b'], ['a/x/b']],
  ])('%s', (pattern, matching, others) => {
    const matches = pathGlob(pattern);

    expect(matching.filter((path) => !matches(path))).toEqual([]);
    expect(others.filter(matches)).toEqual([]);
  });

  it('[T28] matches a hostile pattern quickly', () => {
    expect(pathGlob(`${'**/a/'.repeat(100)}b`)(Array(1000).fill('a').join('/'))).toBe(false);
  });
});

describe('a pattern of a model', () => {
  it.each([
    ['*.ts', ['a.ts', 'x/y/a.ts'], ['a.js']],
    ['*.{ts,tsx}', ['a.ts', 'x/a.tsx'], ['a.js', 'a.{ts,tsx}']],
    ['{src,test}/**/*.ts', ['src/a.ts', 'test/x/a.ts'], ['a.ts', 'lib/a.ts']],
    ['{a,b{c,d}}', ['a', 'bc', 'bd'], ['b', 'c']],
    ['{a/b,c}', ['a/b', 'c', 'x/c'], ['b', 'x/a/b']],
    ['./a', ['a', 'x/a'], []],
    ['/a/b', ['a/b'], ['x/a/b']],
    ['{a', ['{a'], ['a']],
    ['\\{a,b}', ['{a,b}'], ['a']],
  ])('%s', (pattern, matching, others) => {
    const matches = fileGlob(pattern);

    expect(matching.filter((path) => !matches(path, false))).toEqual([]);
    expect(others.filter((path) => matches(path, false))).toEqual([]);
  });

  it('with a trailing / matches folders only', () => {
    const matches = fileGlob('sr*/');

    expect([matches('src', true), matches('src', false)]).toEqual([true, false]);
  });

  it('with too many alternatives is rejected', () => {
    expect(() => fileGlob('{a,b}'.repeat(20))).toThrow('Too many alternatives in {a,b}');
  });
});
