import { linkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../testing/script.ts';
import { withFileMutex } from './file-mutex.ts';

const folder = temporaryFolder();
const path = (name: string) => join(folder, name);

/** A promise, and the function that resolves it. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

it('withFileMutex runs one work per file at a time, in the order of the calls, under every name of the file', async () => {
  writeFileSync(path('file'), '');
  linkSync(path('file'), path('hard'));
  symlinkSync('file', path('soft'));
  const first = gate();
  const log: string[] = [];

  const turns = ['file', 'hard', 'soft'].map((name, index) =>
    withFileMutex(path(name), async () => {
      log.push(`begin ${index}`);
      if (index === 0) await first.opened;
      log.push(`end ${index}`);
    }),
  );
  first.open();
  await Promise.all(turns);

  expect(log).toEqual([0, 1, 2].flatMap((index) => [`begin ${index}`, `end ${index}`]));
});

it('withFileMutex does not delay other files', async () => {
  const first = gate();
  const held = withFileMutex(path('a'), () => first.opened);

  await withFileMutex(path('b'), async () => first.open());

  await held;
});

it('withFileMutex continues after failed work, and returns the result of each', async () => {
  const turns = [
    withFileMutex(path('a'), async () => 1),
    withFileMutex(path('a'), async () => Promise.reject(new Error('no luck'))),
    withFileMutex(path('a'), async () => 3),
  ];

  expect(await Promise.allSettled(turns)).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: new Error('no luck') },
    { status: 'fulfilled', value: 3 },
  ]);
});
