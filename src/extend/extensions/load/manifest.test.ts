import { symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../../store/testing/temp-folder.ts';
import { writeFiles } from '../testing/write-files.ts';
import { MAX_PATHS, pathsBelow } from './manifest.ts';

it('lists all paths below a folder without hidden, installed and linked content', () => {
  const root = tempFolder();
  writeFiles(root, { 'b.ts': '', 'a/c.ts': '', '.git/x': '', 'node_modules/y/z.ts': '', 'a/node_modules/z': '' });
  symlinkSync(root, join(root, 'a', 'ring'));

  expect(pathsBelow(root).map((path) => relative(root, path))).toEqual(['a', 'b.ts', 'a/c.ts', 'a/ring']);
  expect(pathsBelow(join(root, 'not there'))).toEqual([]);
});

it('stops at its limit', () => {
  const root = tempFolder();
  writeFiles(root, Object.fromEntries(Array.from({ length: MAX_PATHS + 1 }, (_, at) => [`${at}`, ''])));

  expect(pathsBelow(root)).toHaveLength(MAX_PATHS);
});
