import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { type Grant, mayOpen } from './grant.ts';
import { owner } from './owner.ts';

const limitedTo = (...allowedPaths: string[]): Grant => ({ ...owner, allowedPaths });

it('[A7] only paths that lead into the allowed folders may be opened, whether they exist or not', () => {
  const base = tempFolder();
  for (const name of ['abc/inner', 'abc-evil', 'other']) mkdirSync(join(base, name), { recursive: true });
  symlinkSync(join(base, 'other'), join(base, 'abc/out'));
  symlinkSync('../other/not-yet', join(base, 'abc/dangling'));
  symlinkSync(join(base, 'abc'), join(base, 'alias'));
  symlinkSync('loop', join(base, 'abc/loop'));
  const grant = limitedTo(join(base, 'abc'));
  const open = (path: string) => mayOpen(grant, `${base}/${path}`);

  const inside = ['abc', 'abc/inner/new/file', 'alias/inner', 'abc/inner/../..x', 'other/../abc/inner', 'abc/..file'];
  const outside = [
    'abc-evil',
    'abc-evil/new',
    '',
    'abc/..',
    'abc/inner/../../other',
    'abc/out/file',
    'abc/out/../abc-evil',
    'abc/dangling',
    'abc/loop/file',
    'abc/in\0ner',
  ];

  expect(inside.filter((path) => !open(path))).toEqual([]);
  expect(outside.filter(open)).toEqual([]);
});

it('[A7] a grant may allow several folders, all or none; an allowed folder may be created later', () => {
  const base = tempFolder();
  const grant = limitedTo(join(base, 'a'), join(base, 'b'));

  const before = mayOpen(grant, join(base, 'b/file'));
  mkdirSync(join(base, 'target'));
  symlinkSync('target', join(base, 'b'));

  expect([before, mayOpen(grant, join(base, 'b/file')), mayOpen(grant, join(base, 'c'))]).toEqual([true, true, false]);
  expect(mayOpen(owner, '/anywhere/at/all')).toBe(true);
  expect(mayOpen(limitedTo(), base)).toBe(false);
  expect(mayOpen(limitedTo('/'), base)).toBe(true);
});
