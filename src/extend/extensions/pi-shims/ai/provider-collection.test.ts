import { expect, it } from 'vitest';
import { completions } from '../../../../../test/support/providers/completions.ts';
import { ProviderDouble } from '../../../../../test/support/providers/provider-double.ts';
import type { Model } from '../../../../protocol/generated/vocabulary.ts';
import { piAi } from '../pi-ai.ts';

// biome-ignore lint/suspicious/noExplicitAny: extensions know the names by pi's types, which are not here
const ai = piAi({ agentDir: '/agent', shell: () => ({ cwd: '/', env: {}, family: 'test' }) }) as any;

const question = { systemPrompt: 'be kind', messages: [{ role: 'user', content: 'say hello', timestamp: 1 }] };

async function acme(auth: object) {
  const server = await ProviderDouble.start(completions);
  const base: Model = ai.getModel('openai', 'gpt-4o');
  const model = { ...base, provider: 'acme', id: 'm1', api: 'openai-completions', baseUrl: `${server.url}/` };
  const provider = ai.createProvider({
    id: 'acme',
    auth,
    models: [model],
    fetchModels: async () => [{ ...model, id: 'm2' }],
    headers: { 'x-acme': 'yes' },
    api: { 'openai-completions': ai.lazyApi(async () => ai.openAICompletionsApi()) },
  });
  return { server, model, provider };
}

it('a provider object calls its API kind with the stored key, its headers and the prompt', async () => {
  const { server, model, provider } = await acme({ apiKey: ai.envApiKeyAuth('Acme key', ['ACME_TEST_KEY']) });
  const models = ai.createModels();
  models.setProvider(provider);

  const without = await models.complete(model, question);
  const before = await models.getAvailable();
  await models.login('acme', 'api_key', { prompt: async () => 'the-key' });
  await models.refresh();
  server.respondWith({ text: 'hello there' });
  const message = await models.completeSimple(model, question);

  expect(without).toMatchObject({ stopReason: 'error', errorMessage: 'No API key found for acme' });
  expect(before).toEqual([]);
  expect((await models.getAvailable()).map(({ id }: Model) => id)).toEqual(['m1', 'm2']);
  expect(message).toMatchObject({ content: [{ type: 'text', text: 'hello there' }] });
  expect(server.requests[0]).toMatchObject({
    headers: { authorization: 'Bearer the-key', 'x-acme': 'yes' },
    body: { messages: [{ role: 'system', content: 'be kind' }, { role: 'user' }] },
  });
});

it('an expired sign-in is renewed once for calls at the same time', async () => {
  let renewals = 0;
  const oauth = {
    name: 'Acme',
    login: async () => ({ type: 'oauth', access: 'old', refresh: 'r', expires: 1 }),
    refresh: async (credential: object) => {
      renewals++;
      return { ...credential, access: 'new', expires: Date.now() + 60_000 };
    },
    toAuth: async ({ access }: { access: string }) => ({ apiKey: access }),
  };
  const { provider } = await acme({ oauth });
  const models = ai.createModels();
  models.setProvider(provider);
  await models.login('acme', 'oauth', { prompt: async () => '' });

  const found = await Promise.all([models.getAuth('acme'), models.getAuth('acme')]);

  expect(found).toEqual(Array(2).fill({ auth: { apiKey: 'new' }, source: 'OAuth' }));
  expect(renewals).toBe(1);
});

it('refresh calls providers as methods and returns their failures, also those thrown at once', async () => {
  const { provider } = await acme({});
  const models = ai.createModels();
  const refreshed: string[] = [];
  models.setProvider({
    ...provider,
    id: 'own',
    async refreshModels() {
      refreshed.push(this.id);
    },
  });
  models.setProvider({
    ...provider,
    id: 'broken',
    refreshModels: () => {
      throw new Error('no list');
    },
  });

  const { errors } = await models.refresh();

  expect(refreshed).toEqual(['own']);
  expect([...errors]).toEqual([['broken', new Error('no list')]]);
});

it('code that could not be loaded is loaded again by the next use', async () => {
  let loads = 0;
  const oauth = ai.lazyOAuth({
    name: 'Acme',
    load: async () => {
      if (++loads === 1) throw new Error('not yet');
      return { toAuth: async () => ({ apiKey: 'k' }) };
    },
  });

  await expect(oauth.toAuth({})).rejects.toThrow('not yet');
  expect([await oauth.toAuth({}), await oauth.toAuth({}), loads]).toEqual([{ apiKey: 'k' }, { apiKey: 'k' }, 2]);
});

it('an API kind of an extension serves its models until it is removed', async () => {
  const model = { ...ai.getModel('openai', 'gpt-4o'), api: 'acme-wire' };
  const streamSimple = (its: Model, { messages }: { messages: { role: string }[] }) =>
    ai.lazyStream(its, async () => {
      const roles = messages.map(({ role }) => role).join(' ');
      return [
        { type: 'done', reason: 'stop', message: { role: 'assistant', content: [{ type: 'text', text: roles }] } },
      ];
    });
  ai.registerApiProvider({ api: 'acme-wire', stream: streamSimple, streamSimple }, 'acme');

  expect(await ai.complete(model, question)).toMatchObject({ content: [{ text: 'system user' }] });
  expect(ai.getApiProviders().map(({ api }: { api: string }) => api)).toContain('acme-wire');

  ai.unregisterApiProviders('acme');
  expect(await ai.complete(model, question)).toMatchObject({ errorMessage: 'Unknown API kind: acme-wire' });
});

it('the providers of the catalogue are provider objects', () => {
  const models = ai.builtinModels();

  expect(models.getModel('anthropic', ai.getBuiltinModels('anthropic')[0].id)).toMatchObject({ provider: 'anthropic' });
  expect(models.getProviders().map(({ id }: { id: string }) => id)).toEqual(ai.getBuiltinProviders());
});

it('a call is repeated while its failure may pass', async () => {
  const failed = { role: 'assistant', stopReason: 'error', errorMessage: '503 overloaded', content: [] };
  const results = [failed, failed, { ...failed, stopReason: 'stop', errorMessage: undefined }];
  const seen: unknown[] = [];
  const policy = { enabled: true, maxRetries: 3, baseDelayMs: 1 };

  const message = await ai.retryAssistantCall(async () => results.shift(), policy, undefined, {
    onRetryScheduled: (attempt: number) => seen.push(attempt),
    onRetryFinished: (success: boolean) => seen.push(success),
  });
  const aborted = await ai.retryAssistantCall(async () => failed, policy, AbortSignal.abort());

  expect([message.stopReason, aborted.stopReason, ...seen]).toEqual(['stop', 'error', 1, 2, true]);
  expect(ai.retryDelayMs({ baseDelayMs: 1000 }, 10)).toBe(60_000);
  expect(ai.isRetryableAssistantError({ ...failed, errorMessage: 'insufficient quota' })).toBe(false);
});
