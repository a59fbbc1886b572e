import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { digestOf } from '../../../store/tokens/token-record.ts';
import type { NewToken } from '../../../store/tokens/token-store.ts';
import { owner } from '../grant.ts';
import type { ServerCredentials } from '../server-credentials.ts';

/** Credentials that several servers share, and the command that changes their tokens. */
export interface SharedCredentials {
  /** The credentials as one more server sees them. */
  readonly open: () => ServerCredentials | Promise<ServerCredentials>;
  readonly create: (request: NewToken) => Promise<{ id: string; token: string }>;
  readonly revoke: (idOrName: string) => Promise<unknown>;
  /** Stores an entry as it is, by the id of a token or the digest of a login. */
  readonly write: (kind: 'token' | 'login', key: string, entry: object) => Promise<void>;
}

const phone: NewToken = { name: 'phone', scopes: ['view'], allowedPaths: ['/srv'], limit: 'auto' };

// Changes of files are noticed by polling at the latest.
const NOTICED = { timeout: 20_000 };

/** The guarantees of every store of credentials, each with credentials of its own. */
export function credentialsContract(name: string, make: () => Promise<SharedCredentials>): void {
  const opened = async ({ open }: SharedCredentials) => {
    const credentials = await open();
    onTestFinished(() => credentials.close());
    return credentials;
  };

  describe(name, () => {
    it('[W150] a token that was created is known to all servers, and not after it was revoked', async () => {
      const shared = await make();
      const [a, b] = [await opened(shared), await opened(shared)];
      const onChange = vi.fn();
      b.onChange(onChange);

      const { id, token } = await shared.create(phone);
      await vi.waitFor(() => expect([a.refreshTokens(), a.tokens.length]).toEqual([false, 1]), NOTICED);
      const known = a.tokens[0];
      await vi.waitFor(() => expect(b.tokens).toEqual(a.tokens), NOTICED);
      await vi.waitFor(() => expect(onChange).toHaveBeenCalled(), NOTICED);
      onChange.mockClear();
      await shared.revoke('phone');

      expect(known).toMatchObject({
        ...phone,
        id,
        sha256: digestOf(token),
        expiresAt: undefined,
        lastUsedAt: undefined,
      });
      await vi.waitFor(() => expect([a.tokens, b.tokens]).toEqual([[], []]), NOTICED);
      await vi.waitFor(() => expect(onChange).toHaveBeenCalled(), NOTICED);
    });

    it('[W151] a login is known at once where it was made, and soon to all servers until it is removed', async () => {
      const shared = await make();
      const [a, b] = [await opened(shared), await opened(shared)];
      const expiresAt = Date.now() + 60_000;

      const secret = await a.addLogin({ source: owner.id, expiresAt });
      const first = { sha256: digestOf(secret), source: owner.id, expiresAt };
      expect(a.logins).toMatchObject([first]);
      const other = await a.addLogin({ source: digestOf('x'), expiresAt });
      const second = { sha256: digestOf(other), source: digestOf('x') };
      await vi.waitFor(() => expect(b.logins).toMatchObject([first, second]), NOTICED);
      await b.removeLogins(new Set([digestOf(secret)]));

      expect(b.logins).toMatchObject([second]);
      await vi.waitFor(() => expect(a.logins).toMatchObject([second]), NOTICED);
    });

    it('[W151] a login that has expired is removed by the next one', async () => {
      const shared = await make();
      const a = await opened(shared);

      await a.addLogin({ source: owner.id, expiresAt: Date.now() - 1 });
      const secret = await a.addLogin({ source: owner.id, expiresAt: Date.now() + 60_000 });

      await vi.waitFor(() => expect(a.logins).toMatchObject([{ sha256: digestOf(secret) }]), NOTICED);
    });

    it('[W153] the last use of a token is stored, and brings back no token that was revoked', async () => {
      const shared = await make();
      const a = await opened(shared);
      const [used, revoked] = [await shared.create(phone), await shared.create(phone)];
      await vi.waitFor(() => expect([a.refreshTokens(), a.tokens.length]).toEqual([false, 2]), NOTICED);

      await shared.revoke(revoked.id);
      // The server may not know yet that the token was revoked.
      for (const { id } of [used, revoked]) await a.recordTokenUse({ id, at: 0 });

      const tokens = async () => (await opened(shared)).tokens.map(({ id, lastUsedAt }) => [id, lastUsedAt]);
      expect(await tokens()).toEqual([[used.id, '1970-01-01T00:00:00.000Z']]);
    });

    it('[W152] invalid entries grant nothing and leave others intact', async () => {
      const shared = await make();
      const token = { name: 'a', sha256: digestOf('a'), scopes: ['view'], createdAt: '2026-01-01T00:00:00Z' };
      const login = { sha256: digestOf('a'), source: owner.id, createdAt: 1, expiresAt: 'never' };
      await shared.write('token', '00000001', { ...token, scopes: ['all'] });
      await shared.write('token', '00000002', { ...token, expires: '2020-01-01' });
      await shared.write('token', '00000003', { ...token, sha256: 'short' });
      await shared.write('token', '00000004', []);
      for (const [index, limit] of ['none', '', null, 1, ['plan'], { mode: 'plan' }].entries())
        await shared.write('token', `0000001${index}`, { ...token, limit });
      await shared.write('token', '00000020', { ...token, limits: 'plan' });
      await shared.write('token', '00000005', token);
      await shared.write('login', digestOf('a'), login);

      const a = await opened(shared);

      expect(a.tokens.map(({ id }) => id)).toEqual(['00000005']);
      expect(a.logins).toEqual([]);
    });

    it('[W151] a code returns the rights of the owner once', async () => {
      const a = await opened(await make());
      const code = await a.codes.issue(owner);

      expect(code).toMatch(/^[\w-]{43}$/);
      expect(await a.codes.redeem('nonsense')).toBeUndefined();
      const results = await Promise.all([a.codes.redeem(code), a.codes.redeem(code)]);
      expect(results.filter((grant) => grant === owner)).toHaveLength(1);
      expect(await a.codes.redeem(code)).toBeUndefined();
    });
  });
}
