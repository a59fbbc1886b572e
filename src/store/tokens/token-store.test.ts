import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../testing/temp-folder.ts';
import { digestOf } from './token-record.ts';
import { createToken, MAX_TOKENS, readTokens, recordTokenUse, revokeToken, tokenStorePath } from './token-store.ts';

const newToken = { name: 'phone', scopes: ['view'] } as const;

function folderWith(content: string | object) {
  const agentDir = tempFolder();
  mkdirSync(join(agentDir, 'server'));
  writeFileSync(tokenStorePath(agentDir), typeof content === 'string' ? content : JSON.stringify(content));
  return agentDir;
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

it('[A1] a token is 256 random bits, different every time', async () => {
  const agentDir = tempFolder();

  const made = await Promise.all(Array.from({ length: 20 }, () => createToken(agentDir, newToken)));

  for (const { token } of made) expect(token).toMatch(/^tau_[\w-]{43}$/);
  expect(new Set(made.map(({ token }) => token)).size).toBe(20);
  expect(new Set(made.map(({ id }) => id)).size).toBe(20);
  expect(readTokens(agentDir).tokens).toHaveLength(20);
});

it('[A9] the file holds the digest of a token, not the token, and only the user can read its folder', async () => {
  const agentDir = tempFolder();
  const path = tokenStorePath(agentDir);
  mkdirSync(dirname(path), { mode: 0o755 });
  writeFileSync(path, '{}', { mode: 0o644 });

  const { id, token } = await createToken(agentDir, {
    ...newToken,
    allowedPaths: ['/srv'],
    expiresAt: '2999-01-01T00:00Z',
  });

  const text = readFileSync(path, 'utf8');
  expect(text).not.toContain(token.slice(4));
  expect(readTokens(agentDir)).toEqual({
    tokens: [
      {
        ...newToken,
        id,
        sha256: digestOf(token),
        allowedPaths: ['/srv'],
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        expiresAt: '2999-01-01T00:00Z',
        lastUsedAt: undefined,
      },
    ],
    problems: [],
  });
  expect([modeOf(path), modeOf(dirname(path))]).toEqual([0o600, 0o700]);
});

it('a token is revoked by id or by unique name', async () => {
  const agentDir = tempFolder();
  const [one, two, three] = [
    await createToken(agentDir, { ...newToken, name: 'one' }),
    await createToken(agentDir, { ...newToken, name: 'two' }),
    await createToken(agentDir, { ...newToken, name: 'two' }),
  ];

  await expect(revokeToken(agentDir, 'two')).rejects.toThrow(`2 tokens are named "two": `);
  await expect(revokeToken(agentDir, 'three')).rejects.toThrow('There is no token "three"');
  await expect(revokeToken(agentDir, 'toString')).rejects.toThrow('There is no token "toString"');
  expect(await revokeToken(agentDir, 'one')).toEqual({ id: one.id, name: 'one' });
  expect(await revokeToken(agentDir, two.id)).toEqual({ id: two.id, name: 'two' });
  expect(readTokens(agentDir).tokens.map(({ id }) => id)).toEqual([three.id]);
});

it('the last use is stored, but not for a revoked token', async () => {
  const agentDir = tempFolder();
  const { id } = await createToken(agentDir, newToken);
  const revoked = await createToken(agentDir, newToken);
  await revokeToken(agentDir, revoked.id);

  for (const used of [id, revoked.id, 'toString']) await recordTokenUse(agentDir, { id: used, at: 0 });

  expect(readTokens(agentDir).tokens).toMatchObject([{ id, lastUsedAt: '1970-01-01T00:00:00.000Z' }]);
});

it('invalid entries are ignored and not quoted, and a missing file yields no tokens', () => {
  const good = { name: 'a', sha256: digestOf('x'), scopes: ['view'], createdAt: '2026-01-01T00:00:00Z' };
  const agentDir = folderWith({
    tokens: {
      'tau_secret-1': { ...good, sha256: 'tau_secret-2' },
      b: { ...good, scopes: ['all'] },
      c: { ...good, expiresAt: 'tau_secret-3' },
      d: { ...good, 'tau_secret-4': 1 },
      e: 'tau_secret-5',
      good,
    },
  });

  const { tokens, problems } = readTokens(agentDir);

  expect(tokens.map(({ id }) => id)).toEqual(['good']);
  expect(problems).toEqual([
    'tokens.json: token 1: sha256 must be 64 hexadecimal digits',
    'tokens.json: token 2: scopes[0] must be one of "view", "prompt", "bash", "admin"',
    'tokens.json: token 3: expiresAt must be a date such as 2030-01-31T12:00:00Z',
    'tokens.json: token 4: a field is unknown: there is name, scopes, allowedPaths, limit, createdAt, expiresAt, sha256, lastUsedAt',
    'tokens.json: token 5: the value must be an object',
  ]);
  expect(readTokens(tempFolder())).toEqual({ tokens: [], problems: [] });
});

it.each(['{"tokens": {"tau_secret": ', '[]', '{"tokens": []}'])(
  'a file such as %s is rejected and left unchanged',
  async (text) => {
    const agentDir = folderWith(text);

    expect(() => readTokens(agentDir)).toThrow(/^tokens\.json: (?!.*secret)/);
    await expect(createToken(agentDir, newToken)).rejects.toThrow(/^tokens\.json: (?!.*secret)/);
    expect(readFileSync(tokenStorePath(agentDir), 'utf8')).toBe(text);
  },
);

it('the number of tokens is limited', async () => {
  const entry = { name: 'a', sha256: digestOf('x'), scopes: [], createdAt: '2026-01-01T00:00:00Z' };
  const agentDir = folderWith({
    tokens: Object.fromEntries(Array.from({ length: MAX_TOKENS }, (_, number) => [`t${number}`, entry])),
  });

  await expect(createToken(agentDir, newToken)).rejects.toThrow(`There are ${MAX_TOKENS} tokens already: revoke some`);
  await revokeToken(agentDir, 't0');
  await createToken(agentDir, newToken);
  expect(readTokens(agentDir).tokens).toHaveLength(MAX_TOKENS);
});

it('createToken rejects when the folder cannot be created', async () => {
  const agentDir = tempFolder();
  writeFileSync(join(agentDir, 'server'), '');

  await expect(createToken(agentDir, newToken)).rejects.toThrow('EEXIST');
});
