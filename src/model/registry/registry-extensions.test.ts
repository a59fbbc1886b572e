import { describe, expect, it } from 'vitest';
import { completions } from '../../../test/support/providers/completions.ts';
import { ProviderDouble } from '../../../test/support/providers/provider-double.ts';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { streamTimeouts } from '../endpoint.ts';
import { callToEnd, scriptedRequest } from '../scripted/testing/call.ts';
import type { ProviderConfig } from './provider-config.ts';
import { ModelRegistry } from './registry.ts';
import { modelNames } from './testing/user-files.ts';

const acme: ProviderConfig = {
  baseUrl: 'http://127.0.0.1:1',
  apiKey: 'a-secret-key',
  api: 'openai-completions',
  models: [{ id: 'one' }, { id: 'two' }],
};

/** A loaded registry of a user without configuration. */
async function loaded(env: Record<string, string> = {}) {
  const registry = new ModelRegistry({ agentDir: tempFolder(), env, folderOptions: { timeouts: streamTimeouts({}) } });
  await registry.load({ anyway: true });
  return registry;
}

describe('a registry with a registered provider', () => {
  it('[L34] offers, finds and cycles its models until it is unregistered', async () => {
    const registry = await loaded();
    await registry.setScope(['acme/*']);
    expect(registry.scope).toBeUndefined();

    registry.register('acme', acme);
    await registry.refreshScope();

    expect(modelNames(registry.available())).toEqual(['acme/one', 'acme/two']);
    expect(registry.fallback).toMatchObject({ provider: 'acme', id: 'one' });
    expect(registry.scope?.map(({ model }) => model.id)).toEqual(['one', 'two']);
    expect(await registry.resolve({ pattern: 'acme/two:high' })).toMatchObject({
      model: { id: 'two' },
      thinkingLevel: 'high',
    });
    expect([registry.hasKey('acme'), registry.hasKey('tau'), registry.hasKey('openai')]).toEqual([true, true, false]);

    registry.unregister('acme');
    await registry.refreshScope();

    expect([registry.find('acme', 'one'), registry.has('acme', 'one'), registry.scope]).toEqual([
      undefined,
      false,
      undefined,
    ]);
    expect(registry.fallback).toMatchObject({ provider: 'tau' });
  });

  it('drops an unlisted model of the provider that was unregistered', async () => {
    const registry = await loaded();
    registry.register('acme', acme);
    await registry.resolve({ pattern: 'acme/three' });
    expect(registry.has('acme', 'three')).toBe(true);

    registry.unregister('acme');

    expect(registry.has('acme', 'three')).toBe(false);
  });

  it('[L34] calls its server like any other, with its key and its headers', async () => {
    const double = await ProviderDouble.start(completions);
    double.respondWith({ text: 'Good day.' }, { status: 401, message: 'Wrong key: a-secret-key' });
    const registry = await loaded();
    registry.register('acme', { ...acme, baseUrl: double.url, headers: { 'X-Team': 'red' }, authHeader: true });
    const model = registry.find('acme', 'one') ?? scriptedRequest().model;

    const accepted = await callToEnd(await registry.provider(model), scriptedRequest({ model }));
    const rejected = await callToEnd(await registry.provider(model), scriptedRequest({ model }));

    expect(accepted.message.content).toEqual([{ type: 'text', text: 'Good day.' }]);
    expect(double.requests[0]?.headers).toMatchObject({ authorization: 'Bearer a-secret-key', 'x-team': 'red' });
    expect(rejected.message.errorMessage).toBe('401 Wrong key: … (invalid_request_error)');
  });

  it('[L34] calls the code of an extension, and redacts the key in its errors', async () => {
    const registry = await loaded({ ACME: 'the-key-of-acme' });
    registry.register('acme', {
      api: 'acme-api',
      apiKey: '$ACME',
      models: [{ id: 'one' }],
      streamSimple: (_model, _context, { apiKey }) => {
        throw new Error(`No such key: ${apiKey}`);
      },
    });
    const model = registry.find('acme', 'one') ?? scriptedRequest().model;

    const { message } = await callToEnd(await registry.provider(model), scriptedRequest({ model }));

    expect(message.errorMessage).toBe('No such key: …');
    expect(registry.auth?.secretNames).toEqual(['ACME']);
  });

  it('returns the key and headers of a request', async () => {
    const registry = await loaded();
    registry.register('acme', { ...acme, headers: { 'X-Team': 'red' }, apiKey: '$NOT_SET' });
    const none = { apiKey: undefined, headers: {} };

    expect(await registry.keyAndHeaders({ provider: 'tau', id: 'scripted' })).toEqual(none);
    expect(await registry.keyAndHeaders({ provider: 'ollama', id: 'x' })).toEqual(none);
    await expect(registry.keyAndHeaders({ provider: 'acme', id: 'one' })).rejects.toThrow(
      'The environment variable NOT_SET is not set',
    );
    registry.register('acme', { apiKey: '!echo from a command' });
    expect(await registry.keyAndHeaders({ provider: 'acme', id: 'one' })).toEqual({
      apiKey: 'from a command',
      headers: { 'user-agent': expect.stringMatching(/^tau\//), 'x-team': 'red' },
    });
  });

  it('rejects a registration before it is loaded', () => {
    const registry = new ModelRegistry({
      agentDir: tempFolder(),
      env: {},
      folderOptions: { timeouts: streamTimeouts({}) },
    });

    expect(() => registry.register('acme', acme)).toThrow('The models are not loaded yet');
    registry.unregister('acme');
  });
});
