import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/script.ts';
import { isPathInside } from './path-inside.ts';
import { realPath } from './real-path.ts';

const folder = realpathSync(temporaryFolder());
const root = join(folder, 'root');
mkdirSync(join(root, 'inside/deep'), { recursive: true });
mkdirSync(join(folder, 'root-sibling'));
mkdirSync(join(folder, 'outside/deep'), { recursive: true });
symlinkSync('../outside/deep', join(root, 'out'));
symlinkSync('inside/deep', join(root, 'in'));
symlinkSync('../outside/nothing-yet', join(root, 'dangling'));
symlinkSync('loop', join(root, 'loop'));
symlinkSync(root, join(folder, 'alias'));

describe('isPathInside', () => {
  it.each([
    ['the root itself', '', true],
    ['a missing file', 'new/file', true],
    ['a path out and back', 'inside/../../root/inside', true],
    ['a link that stays inside', 'in/file', true],
    ['the parent', '..', false],
    ['a sibling with the same prefix', '../root-sibling/file', false],
    ['a link that leads out', 'out/file', false],
    ['the parent of a link target', 'out/../file', false],
    ['a dangling link to the outside', 'dangling', false],
    ['a loop of links', 'loop/file', false],
    ['a name that begins with two dots', '..file', true],
    ['an invalid name', 'a\0b', false],
  ])('%s', (_what, path, expected) => {
    expect(isPathInside(root, `${root}/${path}`)).toBe(expected);
  });

  it('accepts a linked root and a relative path, and everything is inside /', () => {
    expect(isPathInside(join(folder, 'alias'), join(root, 'inside'))).toBe(true);
    expect(isPathInside(root, join(folder, 'alias/inside'))).toBe(true);
    expect(isPathInside(process.cwd(), 'src/../package.json')).toBe(true);
    expect(isPathInside(process.cwd(), '../package.json')).toBe(false);
    expect(isPathInside('/', root)).toBe(true);
  });
});

it('realPath resolves as the kernel does, for every tree of folders and links', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const way = fc.array(fc.oneof({ weight: 4, arbitrary: name }, fc.constantFrom('.', '..', '')), { maxLength: 4 });
  const entry = fc.record({
    at: fc.array(name, { minLength: 1, maxLength: 3 }),
    to: fc.option(way),
    from: fc.constantFrom('.', 'base' as const),
  });
  // Deep enough that no combination of links and dots leaves the temporary folder.
  const depths = join(folder, ...Array<string>(170).fill('d'));
  mkdirSync(depths, { recursive: true });

  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), way, (entries, path) => {
      const base = mkdtempSync(join(depths, 'tree-'));
      for (const { at, to, from } of entries) {
        const target = to && [from === 'base' ? base : from, ...to].join('/');
        attempt(() => (target ? symlinkSync(target, join(base, ...at)) : mkdirSync(join(base, ...at))));
      }
      const target = [base, ...path, 'file'].join('/');

      const predicted = attempt(() => realPath(target));
      const written = attempt(() => writeFileSync(target, ''));
      const actual = written.ok ? attempt(() => realpathSync.native(target)) : written;

      rmSync(base, { recursive: true });
      if (actual.ok) expect(predicted).toEqual(actual);
    }),
    { numRuns: 200 },
  );
});

function attempt<T>(act: () => T): { ok: true; value: T } | { ok: false } {
  try {
    return { ok: true, value: act() };
  } catch {
    return { ok: false };
  }
}
