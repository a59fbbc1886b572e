import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../protocol/errors.ts';
import type { OAuthCredential } from '../../store/credentials.ts';
import { until } from '../../system/testing/script.ts';
import type { ProviderConfig, SignIn } from '../registry/provider-config.ts';
import { openUserModels, type UserFiles } from '../registry/testing/user-files.ts';
import { isDue } from './sign-in.ts';

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
  const path = join(user.agentDir, 'auth.json');
  const onDisk = Object.assign(() => JSON.parse(readFileSync(path, 'utf8')), { path });
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
      acme: { type: 'oauth', access: 'new', refresh: 'r2', expires: later, tenant: 't', issued: expect.any(Number) },
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
    ['has no key', stored, { getApiKey: () => '' }, 'getApiKey returned no key'],
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
    const own: Partial<SignIn> = {
      refreshToken: (_old, signal) => {
        received = signal;
        return new Promise(() => {});
      },
    };
    const { key, onDisk } = signedIn(expired, own, { renewTimeoutMs: 10 });

    await expect(key()).rejects.toThrow('The sign-in for acme was not renewed within 10 ms');
    expect(received?.aborted).toBe(true);
    expect(onDisk().acme).toEqual(expired);
  });

  it('is used as it is while it is valid and its issuer cannot be reached', async () => {
    const soon = { ...stored, expires: Date.now() + 60_000 };
    const { key } = signedIn(soon, { refreshToken: async () => Promise.reject(new Error('no route')) });

    expect(await key()).toBe('key of old');
  });

  it('is not sent again after its refresh token was rejected for good', async () => {
    let requests = 0;
    const { key } = signedIn(expired, {
      refreshToken: async () => {
        requests++;
        throw new Error('400 invalid_grant');
      },
    });

    const messages = [await key().catch(messageOf), await key().catch(messageOf)];

    expect(requests).toBe(1);
    for (const message of messages) expect(message).toContain('Run: tau login acme');
  });

  it('waits for an abort no longer than the caller, and stores the result', async () => {
    let finish = (_fresh: object) => {};
    const { auth, onDisk } = signedIn(expired, {
      refreshToken: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    const controller = new AbortController();
    const waiting = auth.keyAndHeaders({ provider: 'acme', id: 'm' }, controller.signal);
    await until(() => finish.length === 1 && existsSync(`${onDisk.path}.lock`));

    controller.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    finish({ access: 'new', refresh: 'r2', expires: later });
    await auth.signIns.settled();

    expect(onDisk().acme).toMatchObject({ access: 'new', refresh: 'r2' });
  });

  it('changes the models of its account', () => {
    const { list } = signedIn(stored, {
      modifyModels: (models) => models.map((model) => ({ ...model, name: 'Mine' })),
    });

    expect(list.find('acme', 'm')?.name).toBe('Mine');
    expect(list.find('acme', 'm')).toBe(list.find('acme', 'm'));
  });
});

describe('isDue', () => {
  const now = 1_000_000_000_000;
  const minute = 60_000;

  it.each<[string, number, number | undefined, boolean]>([
    ['an hour before the end', 60 * minute, undefined, false],
    ['four minutes before the end', 4 * minute, undefined, true],
    ['after the end', -minute, undefined, true],
    ['a new token that lives five minutes', 5 * minute, 0, false],
    ['a token of five minutes with 20 seconds left', minute / 3, 5 * minute - minute / 3, true],
  ])('decides for %s', (_what, left, age, expected) => {
    const issued = age === undefined ? {} : { issued: now - age };
    expect(isDue({ type: 'oauth', access: 'a', expires: now + left, ...issued }, now)).toBe(expected);
  });
});
