import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../testing/temp-folder.ts';
import { addLogin, loginStorePath, MAX_LOGINS, readLogins, removeLogins } from './login-store.ts';
import { digestOf } from './token-record.ts';

const later = () => Date.now() + 1_000_000;

function folderWith(content: object | string) {
  const agentDir = tempFolder();
  mkdirSync(dirname(loginStorePath(agentDir)));
  writeFileSync(loginStorePath(agentDir), typeof content === 'string' ? content : JSON.stringify(content));
  return agentDir;
}

it('[A14] keeps the digest of a secret, in a file that only the user can read', async () => {
  const agentDir = tempFolder();
  const expiresAt = later();

  const secret = await addLogin(agentDir, { source: 'owner', expiresAt });

  expect(secret).toMatch(/^[\w-]{43}$/);
  expect(readFileSync(loginStorePath(agentDir), 'utf8')).not.toContain(secret);
  expect(readLogins(agentDir)).toMatchObject([{ sha256: digestOf(secret), source: 'owner', expiresAt }]);
  expect(statSync(loginStorePath(agentDir)).mode & 0o777).toBe(0o600);
});

it('removed and expired logins are gone from the file', async () => {
  const agentDir = tempFolder();
  const [one, two] = [
    await addLogin(agentDir, { source: 'owner', expiresAt: later() }),
    await addLogin(agentDir, { source: 'owner', expiresAt: later() }),
  ];
  await addLogin(agentDir, { source: 'owner', expiresAt: Date.now() - 1 });

  await removeLogins(agentDir, new Set([digestOf(one)]));

  expect(readLogins(agentDir).map(({ sha256 }) => sha256)).toEqual([digestOf(two)]);
});

it('the oldest login is removed when the limit is exceeded', async () => {
  const logins = Array.from({ length: MAX_LOGINS }, (_, age) => [
    `id-${age}`,
    { sha256: digestOf(`${age}`), source: 'owner', createdAt: 1000 - age, expiresAt: later() },
  ]);
  const agentDir = folderWith({ logins: Object.fromEntries(logins) });

  const secret = await addLogin(agentDir, { source: 'owner', expiresAt: later() });

  const kept = readLogins(agentDir).map(({ sha256 }) => sha256);
  expect(kept).toHaveLength(MAX_LOGINS);
  expect(kept).not.toContain(digestOf(`${MAX_LOGINS - 1}`));
  expect(kept.at(-1)).toBe(digestOf(secret));
});

it('invalid entries grant no access; a malformed file is left unchanged', async () => {
  const good = { sha256: digestOf('a'), source: 'owner', createdAt: 1, expiresAt: later() };
  const odd = { one: { ...good, sha256: 'short' }, two: { ...good, expiresAt: 'never' }, three: null, four: [], good };
  const agentDir = folderWith({ logins: odd });
  const malformed = folderWith('{"logins": {"secret');

  expect(readLogins(agentDir).map(({ id }) => id)).toEqual(['good']);
  expect(() => readLogins(malformed)).toThrow(/^logins\.json: (?!.*secret)/);
  await expect(addLogin(malformed, { source: 'owner', expiresAt: later() })).rejects.toThrow('it is left as it is');
});
