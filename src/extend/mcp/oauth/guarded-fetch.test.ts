import { lookup } from 'node:dns/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { guardedFetch } from './guarded-fetch.ts';

it('without a name server a request rejects, and nothing else does', async () => {
  const rejections: unknown[] = [];
  const note = (error: unknown) => void rejections.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));

  const fetchGuarded = guardedFetch('https://own.invalid/mcp');
  for (let tries = 0; tries < 2; tries++)
    await expect(fetchGuarded('https://issuer.invalid/token')).rejects.toThrow(
      /there is no host (own|issuer)\.invalid/,
    );
  await lookup('own.invalid').catch(() => {});
  await nextTurn();

  expect(rejections).toEqual([]);
});
