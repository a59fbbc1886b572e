import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../system/testing/script.ts';
import { resolveExistingPath, resolveToolPath } from './tool-path.ts';

describe('a path', () => {
  it.each([
    ['a/b', '/srv/a/b'],
    ['../b', '/b'],
    ['/etc/hosts', '/etc/hosts'],
    ['@a/b', '/srv/a/b'],
    ['@@a', '/srv/@a'],
    ['~', homedir()],
    ['~/a', join(homedir(), 'a')],
    ['@~/a', join(homedir(), 'a')],
    ['~user/a', '/srv/~user/a'],
    ['a\u00A0b\u202Fc\u3000d', '/srv/a b c d'],
  ])('%j resolves to %s', (path, meant) => {
    expect(resolveToolPath('/srv', path)).toBe(meant);
  });

  it('with a NUL is rejected', () => {
    expect(() => resolveToolPath('/srv', 'a\0b')).toThrow('A path cannot hold a NUL character: "a\\u0000b"');
  });
});

describe('an existing file', () => {
  const folder = temporaryFolder();

  it.each([
    ['Shot at 9.41 AM.png', 'Shot at 9.41\u202FAM.png'],
    ['café.txt', 'cafe\u0301.txt'],
    ["it's.txt", 'it’s.txt'],
    ["l'été.txt", 'l’e\u0301te\u0301.txt'],
    ['@scope.txt', '@scope.txt'],
    ['wide\u3000name.txt', 'wide\u3000name.txt'],
    ['plain.txt', 'plain.txt'],
  ])('is found by the name %j', (typed, name) => {
    writeFileSync(join(folder, name), '');

    expect(resolveExistingPath(folder, typed)).toBe(join(folder, name));
  });

  it('is preferred under its exact name; a missing one keeps its plain path', () => {
    writeFileSync(join(folder, "both'.txt"), '');
    writeFileSync(join(folder, 'both’.txt'), '');

    expect(resolveExistingPath(folder, "both'.txt")).toBe(join(folder, "both'.txt"));
    expect(resolveExistingPath(folder, "@none'.txt")).toBe(join(folder, "none'.txt"));
  });
});
