import { lookup } from 'node:dns/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { kindOf } from './address-kinds.ts';
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

it.each([
  ['a NAT64 address', 'https://[64:ff9b::a9fe:a9fe]/', 'link-local'],
  ['a NAT64 address of this network', 'https://[64:ff9b:1::a00:1]/', 'reserved'],
  ['a 6to4 address', 'https://[2002:7f00:1::]/', 'loopback'],
  ['a mapped address', 'https://[::ffff:10.0.0.1]/', 'private'],
  ['a translated address', 'https://[::ffff:0:192.168.0.1]/', 'private'],
  ['a compatible address', 'https://[::10.0.0.1]/', 'private'],
  ['the loopback address', 'https://[::1]/', 'loopback'],
  ['an address for benchmarks', 'https://198.19.255.255/', 'reserved'],
  ['an address for protocols', 'https://192.0.0.192/', 'reserved'],
])('[N63] a sign-in is refused at %s', async (_, address, kind) => {
  await expect(guardedFetch('https://8.8.8.8/mcp')(address)).rejects.toThrow(
    `refused: the sign-in leads to a ${kind} address`,
  );
});

it.each(['8.8.8.8', '64:ff9b::808:808', '2002:808:808::1', '::ffff:8.8.8.8', '2606:4700::1111'])(
  'the address %s is public',
  (address) => {
    expect(kindOf(address)).toBe('public');
  },
);
