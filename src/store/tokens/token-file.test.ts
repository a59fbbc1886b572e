import { chmodSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../testing/temp-folder.ts';
import { isOpenToOthers, readTokenFile } from './token-file.ts';
import { digestOf } from './token-record.ts';

function fileWith(content: string | object): string {
  const path = join(tempFolder(), 'tokens.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
  return path;
}

const entry = { name: 'Work Laptop', allowedPaths: ['/home/user/projects'], createdAt: '2024-01-15T10:00:00Z' };

it('[A5] a file with plain tokens as keys is read as the guide shows it', () => {
  const path = fileWith({ tokens: { 'client-1-token-abc123': entry } });

  expect(readTokenFile(path)).toEqual([
    {
      ...entry,
      id: expect.stringMatching(/^file-[0-9a-f]{8}$/),
      sha256: digestOf('client-1-token-abc123'),
      scopes: ['view', 'prompt', 'bash'],
      expiresAt: undefined,
      lastUsedAt: undefined,
      isGuessable: false,
    },
  ]);
});

it('[A5] an empty entry has a number as name, the default scopes and every folder', () => {
  const [record] = readTokenFile(fileWith({ tokens: { one: {} } })) ?? [];
  expect(record).toMatchObject({ name: 'token 1', scopes: ['view', 'prompt', 'bash'], allowedPaths: undefined });
});

it('[A5] entries may have scopes and an expiry, paths a tilde, and equal names get different ids', () => {
  const path = fileWith({
    tokens: {
      one: { ...entry, scopes: ['view'], expiresAt: '2030-01-01', allowedPaths: ['~/work', '~'] },
      two: entry,
      three: { name: entry.name, allowedPaths: [] },
    },
  });

  const [one, two, three] = readTokenFile(path) ?? [];

  expect(one).toMatchObject({
    scopes: ['view'],
    expiresAt: '2030-01-01',
    allowedPaths: [join(homedir(), 'work'), homedir()],
  });
  expect(two?.id).toBe(`${one?.id}-2`);
  expect(three).toMatchObject({ allowedPaths: [], createdAt: undefined });
  expect(new Set([one, two, three].map((token) => token?.id)).size).toBe(3);
});

describe('a malformed file is rejected, and no token is quoted', () => {
  it.each([
    ['no JSON', '{"tokens": {"secret": }}', /^the file|not valid JSON|JSON at position/],
    ['no object', '["secret"]', 'the file must hold an object'],
    ['no tokens', '{"secret": {}}', 'tokens must be an object'],
    ['a list', '{"tokens": ["secret"]}', 'tokens must be an object'],
    ['an empty token', { tokens: { '': entry } }, 'token 1: a token must not be empty'],
    ['a blank token', { tokens: { ' ': entry } }, 'token 1: a token must not be empty'],
    ['no text', { tokens: { secret: 'secret' } }, 'token 1: the value must be an object'],
    [
      'a relative path',
      { tokens: { secret: { ...entry, allowedPaths: ['src'] } } },
      'token 1: allowedPaths must be absolute paths',
    ],
    ['an odd scope', { tokens: { secret: { ...entry, scopes: ['secret'] } } }, /^token 1: scopes\[0] must be one of/],
    ['an odd date', { tokens: { secret: { ...entry, expiresAt: 'secret' } } }, /^token 1: expiresAt must be a date/],
    ['a limit misspelt', { tokens: { secret: { ...entry, expires: '2020-01-01' } } }, /^token 1: a field is unknown/],
    ['a token one level too deep', { tokens: { a: { ...entry, secret: entry } } }, /^token 1: a field is unknown/],
    // Its keys are ids, which are public.
    [
      'the file of tau itself',
      { tokens: { a1b2c3d4: { ...entry, sha256: digestOf('x'), scopes: [] } } },
      /^token 1: a field is unknown/,
    ],
  ])('%s', (_what, content, problem) => {
    const path = fileWith(content);
    const message = messageFrom(() => readTokenFile(path));

    expect(message.startsWith(`${path}: `)).toBe(true);
    const reason = message.slice(path.length + 2);
    if (typeof problem === 'string') expect(reason).toBe(problem);
    else expect(reason).toMatch(problem);
    expect(reason).not.toContain('secret');
  });

  it('at any cut', () => {
    const token = 'tau-secret-0123456789';
    const text = JSON.stringify({ tokens: { [token]: entry } });
    const path = fileWith('');

    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ maxLength: 3 }), (length, junk) => {
        writeFileSync(path, text.slice(0, length) + junk);
        const message = messageFrom(() => readTokenFile(path));
        for (let start = 0; start + 6 <= token.length; start++)
          expect(message).not.toContain(token.slice(start, start + 6));
      }),
      // Each damaged file is read again after a moment.
      { numRuns: 25 },
    );
  });
});

it('a missing file yields undefined', () => {
  expect(readTokenFile(join(tempFolder(), 'tokens.json'))).toBeUndefined();
});

it('access for other users is detected', () => {
  const path = fileWith('{}');

  const before = isOpenToOthers(path);
  chmodSync(path, 0o640);

  expect([before, isOpenToOthers(path), isOpenToOthers(`${path}.none`)]).toEqual([false, true, false]);
});

function messageFrom(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}
