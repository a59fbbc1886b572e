import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { tempFolder } from './testing/temp-folder.ts';
import { watchFiles } from './watch-files.ts';

/** Watches files and returns the next one that changes. */
function watched(...paths: string[]) {
  const seen: string[] = [];
  let wake = () => {};
  const stop = watchFiles(paths, (path) => {
    seen.push(path);
    wake();
  });
  onTestFinished(stop);
  const next = async () => {
    while (seen.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return seen.shift();
  };
  return { next, stop, seen };
}

it('creating, writing, replacing and removing a file is reported', async () => {
  const folder = tempFolder();
  const [path, other, fresh] = ['a', 'b', 'fresh'].map((name) => join(folder, name)) as [string, string, string];
  const { next } = watched(path, other);

  writeFileSync(path, '1');
  expect(await next()).toBe(path);
  writeFileSync(path, '12');
  expect(await next()).toBe(path);
  writeFileSync(fresh, '1');
  renameSync(fresh, other);
  expect(await next()).toBe(other);
  rmSync(path);
  expect(await next()).toBe(path);
});

it('changes behind a symlink are found by polling', async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, 'elsewhere'));
  mkdirSync(join(folder, 'here'));
  const [target, link] = [join(folder, 'elsewhere/file'), join(folder, 'here/link')];
  writeFileSync(target, '1');
  symlinkSync(target, link);
  const { next } = watched(link);

  writeFileSync(target, '12');

  expect(await next()).toBe(link);
});

it('nothing is reported after stop', async () => {
  const folder = tempFolder();
  const path = join(folder, 'a');
  const stopped = watched(path);
  const active = watched(path);

  stopped.stop();
  writeFileSync(path, '1');

  expect(await active.next()).toBe(path);
  expect(stopped.seen).toEqual([]);
});
