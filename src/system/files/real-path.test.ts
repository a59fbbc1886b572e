import fs, { mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../testing/script.ts';
import { isPathInside } from './path-inside.ts';
import { realPath } from './real-path.ts';

const folder = temporaryFolder();

it('realPath resolves like a walk over every segment, for every tree of folders, files and links', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'missing', 'x'.repeat(300), 'a\0b');
  const step = fc.oneof({ weight: 5, arbitrary: fc.constantFrom('a', 'b', 'c') }, name, fc.constantFrom('.', '..', ''));
  const entry = fc.record({
    at: fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }),
    is: fc.constantFrom('folder', 'file', 'link', 'absolute link'),
    to: fc.array(step, { maxLength: 4 }),
  });
  // Deep enough that no combination of links and dots leaves the temporary folder.
  const depths = join(folder, ...Array<string>(170).fill('d'));
  mkdirSync(depths, { recursive: true });

  fc.assert(
    fc.property(fc.array(entry, { maxLength: 10 }), fc.array(step, { maxLength: 12 }), (entries, steps) => {
      const base = mkdtempSync(join(depths, 'tree-'));
      for (const { at, is, to } of entries) {
        const path = join(base, ...at);
        attempt(() => {
          if (is === 'folder') mkdirSync(path);
          else if (is === 'file') writeFileSync(path, '');
          else symlinkSync([is === 'link' ? '.' : base, ...to].join('/'), path);
        });
      }
      const path = [base, ...steps].join('/');

      const found = attempt(() => realPath(path));
      const expected = attempt(() => naiveRealPath(path));
      rmSync(base, { recursive: true });

      expect(found).toEqual(expected);
    }),
    { numRuns: 100 },
  );
});

it.each([
  ['a missing folder', 'missing'],
  ['a file', 'file'],
])('realPath reads nothing below %s, at any depth', (_what, name) => {
  writeFileSync(join(folder, 'file'), '');
  const at = (depth: number) => join(folder, name) + '/a'.repeat(depth);

  expect(countReadlinks(() => realPath(at(1900)))).toBe(countReadlinks(() => realPath(at(1))));
  expect(realPath(at(1900))).toBe(naiveRealPath(at(1900)));
});

it('realPath reads a path that is too long only once', () => {
  const path = join(folder, 'missing') + '/a'.repeat(100_000);

  expect(countReadlinks(() => attempt(() => realPath(path)))).toBe(1);
  expect(() => realPath(path)).toThrow('ENAMETOOLONG');
  expect(isPathInside(folder, path)).toBe(false);
});

/** Counts the calls of readlink. */
function countReadlinks(work: () => void): number {
  const { readlinkSync: ordinary } = fs;
  let count = 0;
  const counting = (path: string) => {
    count++;
    return ordinary(path);
  };
  fs.readlinkSync = counting as typeof ordinary;
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    fs.readlinkSync = ordinary;
    syncBuiltinESMExports();
  }
  return count;
}

/** Resolves a path by reading every segment. */
function naiveRealPath(path: string): string {
  const todo = path.split('/').reverse();
  let real = '/';
  let links = 0;
  for (let segment = todo.pop(); segment !== undefined; segment = todo.pop()) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') {
      real = dirname(real);
      continue;
    }
    const target = targetOf(join(real, segment));
    if (target === undefined) real = join(real, segment);
    else {
      if (++links > 40) throw new Error('ELOOP');
      if (isAbsolute(target)) real = '/';
      todo.push(...target.split('/').reverse());
    }
  }
  return real;
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['EINVAL', 'ENOENT', 'ENOTDIR'].includes(code)) return undefined;
    throw error;
  }
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
