import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OAuthCredential } from '../../store/credentials.ts';
import type { ProviderConfig, SignIn } from '../registry/provider-config.ts';
import { openUserModels, type UserFiles } from '../registry/testing/user-files.ts';
import { apiKeyFromSignIn } from './sign-in.ts';

const later = Date.now() + 3_600_000;
const stored = { type: 'oauth', access: 'old', refresh: 'r1', expires: later, tenant: 't' } as const;
const expired = { ...stored, expires: 1 };

/** A user with a stored sign-in, and an extension that handles it. */
function signedIn(credential: object, own: Partial<SignIn> = {}, files: UserFiles = {}) {
  const refreshed: OAuthCredential[] = [];
  const user = openUserModels({ ...files, auth: { other: { type: 'api_key', key: 'k' }, acme: credential } });
  const oauth: SignIn = {
    getApiKey: ({ access }) => `key of ${access}`,
    refreshToken: async (old) => {
      refreshed.push(old);
      return { access: 'new', refresh: 'r2', expires: later };
    },
    ...own,
  };
  const config: ProviderConfig = { baseUrl: 'http://a.test', api: 'openai-completions', models: [{ id: 'm' }], oauth };
  user.list.register('acme', config);
  const onDisk = () => JSON.parse(readFileSync(join(user.agentDir, 'auth.json'), 'utf8'));
  return { ...user, oauth, refreshed, onDisk, config, key: () => user.keyOf('acme', 'm') };
}

describe('a stored sign-in of a registered provider', () => {
  it('is turned into a key by the provider', async () => {
    const { key, auth, refreshed } = signedIn(stored);

    expect(auth.hasKey('acme')).toBe(true);
    expect(await key()).toBe('key of old');
    expect(refreshed).toEqual([]);
  });

  it('is renewed if it has expired, and stored for the user only', async () => {
    const { key, auth, refresh, refreshed, onDisk, agentDir } = signedIn(expired);

    expect(auth.hasKey('acme')).toBe(true);
    expect(await key()).toBe('key of new');
    expect(refreshed).toEqual([expired]);
    expect(onDisk()).toEqual({
      other: { type: 'api_key', key: 'k' },
      acme: { type: 'oauth', access: 'new', refresh: 'r2', expires: later, tenant: 't' },
    });
    expect(statSync(join(agentDir, 'auth.json')).mode & 0o777).toBe(0o600);
    refresh();
    expect(await key()).toBe('key of new');
    expect(refreshed).toHaveLength(1);
  });

  it('is renewed once for concurrent requests', async () => {
    const { key, refreshed } = signedIn(expired);

    expect(await Promise.all([key(), key(), key()])).toEqual(['key of new', 'key of new', 'key of new']);
    expect(refreshed).toHaveLength(1);
  });

  it('is reported as missing if there is none', async () => {
    const { list, auth, config } = signedIn(stored);
    list.register('empty', config);

    expect(auth.hasKey('empty')).toBe(false);
    await expect(auth.keyAndHeaders({ provider: 'empty', id: 'm' })).rejects.toThrow('No API key found for empty');
  });

  it.each<[string, object, Partial<SignIn>, string]>([
    ['is rejected', expired, { refreshToken: async () => Promise.reject(new Error('revoked')) }, 'revoked'],
    ['gets an empty response', expired, { refreshToken: async () => ({}) }, 'access is required'],
    [
      'gets a malformed response',
      expired,
      { refreshToken: async () => ({ access: 3, expires: 1 }) },
      'access must be a string',
    ],
    ['is no object', expired, { refreshToken: async () => 'x' as unknown as object }, 'it must be an object'],
    ['has no key', stored, { getApiKey: () => '' }, 'getApiKey did not answer a key'],
    [
      'breaks',
      stored,
      {
        getApiKey: () => {
          throw new Error('bug');
        },
      },
      'bug',
    ],
  ])('that %s is reported', async (_what, credential, own, sentence) => {
    const { key, onDisk } = signedIn(credential, own);

    expect(await key().catch((error: Error) => error.message)).toContain(sentence);
    expect(onDisk().acme.access).toBe('old');
  });

  it('waits no longer than the timeout for its renewal', async () => {
    let received: AbortSignal | undefined;
    const { oauth, agentDir, onDisk } = signedIn(expired, {
      refreshToken: (_old, signal) => {
        received = signal;
        return new Promise(() => {});
      },
    });

    const key = apiKeyFromSignIn({ agentDir, provider: 'acme', credential: expired, signIn: oauth, timeoutMs: 10 });

    await expect(key).rejects.toThrow('refreshToken did not answer within 10 ms');
    expect(received?.aborted).toBe(true);
    expect(onDisk().acme).toEqual(expired);
  });
});
