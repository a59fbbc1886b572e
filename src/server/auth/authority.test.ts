import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { loginStorePath } from '../../store/tokens/login-store.ts';
import { createToken, type NewToken, readTokens, revokeToken, tokenStorePath } from '../../store/tokens/token-store.ts';
import { openLog } from '../../system/log.ts';
import { type AuthorityOptions, LOGIN_LIFE_MS, type LoginAuthority, openAuthority } from './authority.ts';
import { cookieNameOf } from './cookies.ts';
import { FileCredentials } from './file-credentials.ts';
import { type Grant, owner } from './grant.ts';

const cookies = { name: () => cookieNameOf(4170), basePath: '', secure: false };
const phone: NewToken = { name: 'phone', scopes: ['view'] };
const listed = { name: 'laptop', allowedPaths: ['/srv'] };

afterEach(() => void vi.useRealTimers());

/** An authority with its log and a promise for its next change. */
async function opened({
  agentDir = tempFolder(),
  ...options
}: Partial<AuthorityOptions> & { readonly agentDir?: string } = {}) {
  const logFile = join(agentDir, 'log');
  const log = openLog({ level: 'warn', file: logFile });
  const authority = await openAuthority({ store: new FileCredentials(agentDir, log), cookies, log, ...options });
  onTestFinished(() => authority.close());
  const warnings = () => readFileSync(logFile, 'utf8');
  return { authority, agentDir, warnings, changed: changesOf(authority) };
}

function changesOf(authority: LoginAuthority): () => Promise<void> {
  let unseen = 0;
  let wake = () => {};
  authority.onChange(() => {
    unseen++;
    wake();
  });
  return async () => {
    while (unseen === 0) await new Promise<void>((resolve) => (wake = resolve));
    unseen = 0;
  };
}

function tokensFile(tokens: object) {
  const path = join(tempFolder(), 'plain.json');
  const write = (content: object | string) =>
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify({ tokens: content }), { mode: 0o600 });
  write(tokens);
  return { path, write };
}

function required(grant: Grant | undefined): Grant {
  if (!grant) throw new Error('Nobody was let in');
  return grant;
}

const cookieIn = ({ setCookie }: { setCookie: string }) => setCookie.replace(/;.*/, '');

describe('known credentials', () => {
  it('[A5 A6] tokens of tau, of a file and of the environment are accepted, each with its rights', async () => {
    const agentDir = tempFolder();
    const { id, token } = await createToken(agentDir, { ...phone, allowedPaths: ['/home'] });
    const { path } = tokensFile({ plain: listed });
    const { authority } = await opened({ agentDir, tokensFile: path, envToken: 'from-env' });

    expect(authority.grantOf(token)).toEqual({
      id,
      name: 'phone',
      scopes: new Set(['view']),
      allowedPaths: ['/home'],
      expiresAt: undefined,
    });
    expect(authority.grantOf('plain')).toMatchObject({
      name: 'laptop',
      scopes: new Set(['view', 'prompt', 'bash']),
      allowedPaths: ['/srv'],
    });
    expect(authority.grantOf('from-env')).toEqual({ ...owner, id: 'env', name: 'PI_AUTH_TOKEN' });
  });

  it('unknown secrets and copied grants are rejected', async () => {
    const agentDir = tempFolder();
    const { id, token } = await createToken(agentDir, phone);
    const { authority } = await opened({ agentDir });
    const [stored] = readTokens(agentDir).tokens;

    for (const wrong of ['', id, 'phone', token.slice(0, -1), `${token}x`, token.toUpperCase(), stored?.sha256 ?? '']) {
      expect(authority.grantOf(wrong)).toBeUndefined();
    }
    expect(authority.isValid({ ...owner })).toBe(false);
    expect(authority.isValid(owner)).toBe(true);
  });

  it('a token in several sources has the rights of the first, and its grant keeps its identity', async () => {
    const file = tokensFile({ same: listed });
    const { authority } = await opened({ tokensFile: file.path, envToken: 'same' });
    const grant = required(authority.grantOf('same'));

    await authority.login(grant);

    expect(grant.name).toBe('laptop');
    expect(authority.grantOf('same')).toBe(grant);
  });
});

describe('changes', () => {
  it('a revoked token is rejected at once, and listeners are notified', async () => {
    const agentDir = tempFolder();
    const [one, two] = [await createToken(agentDir, phone), await createToken(agentDir, phone)];
    const { authority, changed } = await opened({ agentDir });
    const [first, second] = [required(authority.grantOf(one.token)), required(authority.grantOf(two.token))];

    await revokeToken(agentDir, one.id);
    await changed();

    expect([authority.isValid(first), authority.isValid(second)]).toEqual([false, true]);
    expect(authority.grantOf(one.token)).toBeUndefined();
    expect(authority.grantOf(two.token)).toBe(second);
  });

  it('a grant whose scopes, paths or name changed is no longer valid', async () => {
    const file = tokensFile({ a: listed, b: listed, c: listed, d: listed });
    const { authority, changed } = await opened({ tokensFile: file.path });
    const before = ['a', 'b', 'c', 'd'].map((token) => required(authority.grantOf(token)));

    file.write({
      a: listed,
      b: { ...listed, scopes: ['view'] },
      c: { ...listed, allowedPaths: ['/srv', '/home'] },
      d: { ...listed, expiresAt: '2999-01-01' },
    });
    await changed();

    expect(before.map((grant) => authority.isValid(grant))).toEqual([true, false, false, false]);
    expect(authority.grantOf('b')?.scopes).toEqual(new Set(['view']));
  });

  it('[A17] a malformed token file keeps the previous tokens; a deleted one revokes them', async () => {
    const file = tokensFile({ secret: listed, other: listed });
    const { authority, changed, warnings } = await opened({ tokensFile: file.path });
    const grant = required(authority.grantOf('secret'));

    file.write('{"tokens": {"secret": ');
    await vi.waitFor(() => expect(warnings()).toContain(file.path), { timeout: 20_000 });
    const kept = authority.isValid(grant);
    file.write({ secret: listed });
    await changed();
    const mended = authority.isValid(grant);
    rmSync(file.path);
    await changed();

    expect([kept, mended, authority.isValid(grant)]).toEqual([true, true, false]);
    expect(warnings()).not.toContain('secret');
  });

  it.each([
    ['is missing', undefined, 'there is no such file'],
    ['is malformed', '{"tokens": {"secret": 1}}', 'token 1: the value must be an object'],
  ])('[A17] a token file that %s prevents the start', async (_what, content, problem) => {
    const path = join(tempFolder(), 'plain.json');
    if (content !== undefined) writeFileSync(path, content);

    await expect(opened({ tokensFile: path })).rejects.toThrow(`${path}: ${problem}`);
  });

  it('a malformed store grants nothing and leaves other sources intact', async () => {
    const agentDir = tempFolder();
    mkdirSync(dirname(tokenStorePath(agentDir)));
    writeFileSync(tokenStorePath(agentDir), '{"tokens": {"a": {"name": "tau_secret"}, "b": 1}}');
    writeFileSync(loginStorePath(agentDir), 'tau_secret');

    const { authority, warnings } = await opened({ agentDir, envToken: 'e' });

    expect(authority.grantOf('e')).toBeDefined();
    expect(warnings()).toMatch(/tokens\.json: token 1: .*\n.*tokens\.json: token 2: .*\n.*logins\.json: /);
    expect(warnings()).not.toContain('secret');
  });

  it('a token file that others can read is logged as a warning', async () => {
    const { path } = tokensFile({});
    chmodSync(path, 0o644);

    const { warnings } = await opened({ tokensFile: path });

    expect(warnings()).toContain('other users can read it');
  });
});

describe('expiry', () => {
  it('[A8] a token is rejected after its expiry, and listeners are notified', async () => {
    vi.useFakeTimers();
    const agentDir = tempFolder();
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { token } = await createToken(agentDir, { ...phone, expiresAt });
    const { authority } = await opened({ agentDir });
    const onChange = vi.fn();
    authority.onChange(onChange);
    const grant = required(authority.grantOf(token));

    vi.advanceTimersByTime(3_599_999);
    const before = [authority.isValid(grant), onChange.mock.calls.length];
    vi.advanceTimersByTime(1);

    expect(before).toEqual([true, 0]);
    expect(grant.expiresAt).toBe(Date.parse(expiresAt));
    expect([authority.isValid(grant), authority.grantOf(token), onChange.mock.calls.length]).toEqual([
      false,
      undefined,
      1,
    ]);
  });

  it('[A8] an expiry beyond the longest timer does not expire the token now', async () => {
    const { path } = tokensFile({
      a: { ...listed, expiresAt: '2999-01-01' },
      b: { ...listed, expiresAt: '2020-01-01' },
    });
    const { authority } = await opened({ tokensFile: path });

    expect([authority.grantOf('a') === undefined, authority.grantOf('b')]).toEqual([false, undefined]);
  });
});

describe('last use', () => {
  it('the use of a token is recorded at most once a minute', async () => {
    const agentDir = tempFolder();
    const { token } = await createToken(agentDir, phone);
    const lastUse = () => readTokens(agentDir).tokens[0]?.lastUsedAt;
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2030, 0, 1) });
    const used = async () => {
      const { authority } = await opened({ agentDir });
      for (let count = 0; count < 3; count++) authority.grantOf(token);
      await authority.close();
      return lastUse();
    };

    const first = await used();
    vi.setSystemTime(Date.UTC(2030, 0, 1, 0, 0, 59));
    const soon = await used();
    vi.setSystemTime(Date.UTC(2030, 0, 1, 0, 1));
    const later = await used();

    expect([first, soon, later]).toEqual([
      '2030-01-01T00:00:00.000Z',
      '2030-01-01T00:00:00.000Z',
      '2030-01-01T00:01:00.000Z',
    ]);
  });

  it('a failure to record the use does not reject the token', async () => {
    const agentDir = tempFolder();
    const { token } = await createToken(agentDir, phone);
    const { authority, warnings } = await opened({ agentDir });
    writeFileSync(tokenStorePath(agentDir), 'x');

    expect(authority.grantOf(token)).toBeDefined();
    await authority.close();

    expect(warnings()).toContain('A use was not written down: tokens.json');
  });
});

describe('logins', () => {
  it('[A14] a login has the rights of its grant and survives a restart', async () => {
    const first = await opened();
    const cookie = await first.authority.login(owner);
    const before = first.authority.grantOfCookies(cookieIn(cookie));
    await first.authority.close();
    const { authority } = await opened({ agentDir: first.agentDir });

    const grant = required(authority.grantOfCookies(`theme=dark; ${cookieIn(cookie)}`));

    expect(cookie.setCookie).toMatch(/^tau_4170=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/);
    expect(grant).toEqual({
      ...owner,
      id: expect.stringMatching(/^owner\/[0-9a-f]{8}$/),
      expiresAt: expect.any(Number),
    });
    expect(grant).toEqual(before);
    expect(authority.isValid(grant)).toBe(true);
    expect(authority.grantOf(cookieIn(cookie).slice('tau_4170='.length))).toBeUndefined();
  });

  it('[A14] a login ends when its token is revoked or changed', async () => {
    const agentDir = tempFolder();
    const { id, token } = await createToken(agentDir, phone);
    const file = tokensFile({ plain: listed });
    const { authority, changed } = await opened({ agentDir, tokensFile: file.path });
    const cookiesOf = async (secret: string) => cookieIn(await authority.login(required(authority.grantOf(secret))));
    const [one, two] = [await cookiesOf(token), await cookiesOf('plain')];
    const grants = [one, two].map((cookie) => required(authority.grantOfCookies(cookie)));

    await revokeToken(agentDir, id);
    await changed();
    const first = grants.map((grant) => authority.isValid(grant));
    file.write({ plain: { ...listed, scopes: ['view'] } });
    await changed();

    expect(first).toEqual([false, true]);
    expect(grants.map((grant) => authority.isValid(grant))).toEqual([false, false]);
    expect(authority.grantOfCookies(one)).toBeUndefined();
    expect(authority.grantOfCookies(two)?.scopes).toEqual(new Set(['view']));
  });

  it('[A14] a login ends with its token, or after 30 days', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const expiresAt = Date.now() + 60_000;
    const { path } = tokensFile({ a: { ...listed, expiresAt: new Date(expiresAt).toISOString() }, b: listed });
    const { authority } = await opened({ tokensFile: path });
    const [short, long] = await Promise.all(
      ['a', 'b'].map((token) => authority.login(required(authority.grantOf(token)))),
    );
    const admitted = () =>
      [short, long].map((cookie) => cookie && authority.grantOfCookies(cookieIn(cookie)) !== undefined);

    const now = admitted();
    vi.setSystemTime(expiresAt);
    const soon = admitted();
    vi.setSystemTime(expiresAt - 60_000 + LOGIN_LIFE_MS);

    expect(short?.setCookie).toContain('Max-Age=60;');
    expect([now, soon, admitted()]).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ]);
  });

  it('[A14] a logout ends the login, also on another server of the user', async () => {
    const { authority, agentDir } = await opened();
    const other = await opened({ agentDir });
    const [one, two] = [cookieIn(await authority.login(owner)), cookieIn(await authority.login(owner))];
    const grant = required(authority.grantOfCookies(one));
    await vi.waitFor(() => expect(other.authority.grantOfCookies(one)).toBeDefined(), { timeout: 20_000 });

    const { setCookie } = await authority.logout(one);
    await other.changed();

    expect(setCookie).toBe('tau_4170=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict');
    expect([authority.isValid(grant), authority.grantOfCookies(one), other.authority.grantOfCookies(one)]).toEqual([
      false,
      undefined,
      undefined,
    ]);
    expect(authority.grantOfCookies(`${one}; ${two}`)).toBeDefined();
    expect(await authority.logout('tau_4170=stranger')).toEqual({ setCookie });
  });

  it('[A14] a login can create another login, and an expired grant cannot', async () => {
    const agentDir = tempFolder();
    const { id, token } = await createToken(agentDir, phone);
    const { authority, changed } = await opened({ agentDir });
    const grant = required(authority.grantOf(token));
    const again = cookieIn(
      await authority.login(required(authority.grantOfCookies(cookieIn(await authority.login(grant))))),
    );

    const admitted = authority.grantOfCookies(again);
    await revokeToken(agentDir, id);
    await changed();

    expect(admitted?.scopes).toEqual(new Set(['view']));
    expect(authority.grantOfCookies(again)).toBeUndefined();
    await expect(authority.login(grant)).rejects.toMatchObject({ code: 'permission_denied' });
  });

  it('logins of a previous environment token are rejected', async () => {
    const { authority, agentDir } = await opened({ envToken: 'old' });
    const cookie = cookieIn(await authority.login(required(authority.grantOf('old'))));

    const next = await opened({ agentDir, envToken: 'new' });
    const same = await opened({ agentDir, envToken: 'old' });

    expect([next, same].map((server) => server.authority.grantOfCookies(cookie)?.name)).toEqual([
      undefined,
      'PI_AUTH_TOKEN',
    ]);
  });
});
