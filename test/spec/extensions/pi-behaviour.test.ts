import { expect } from 'vitest';
import { allNotifications, bash, homeWithCommands, nextNotification } from '../../support/agent/extensions.ts';
import { newHome, readSessionFile, writeSettings } from '../../support/agent/test-agent.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

verifies('X80', 'a message_end handler rewords a user message for the model and the clients', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    `pi.on('message_end', ({ message }) => message.role === 'user'
      ? { message: { ...message, content: message.content.map((block) => ({ ...block, text: block.text.replace('4111', '****') })) } }
      : undefined);
    pi.on('context', ({ messages }, ctx) => tell(ctx, messages.at(-1).content[0].text));`,
  );
  const { peer, sessionFiles } = await open({ home, script: [{ text: 'done' }] });

  const records = await peer.run('pay with 4111');

  expect(allNotifications(peer)).toEqual(['pay with ****']);
  const ended = records.filter(({ type }) => type === 'message_end').map(({ message }) => message);
  expect(ended[0]).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'pay with ****' }] });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[0]).toEqual(ended[0]);
  const entries = readSessionFile(sessionFiles()[0] ?? '');
  expect(entries.filter(({ type }) => type === 'context_edit')).toHaveLength(1);
});

verifies('X80 X50', 'a user message cannot be emptied', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    "pi.on('message_end', ({ message }) => ({ message: { ...message, content: [] } }));",
  );
  const { peer } = await open({ home, script: [bash('true'), { text: 'done' }] });

  const records = await peer.run('go');

  expect(records.find(({ type }) => type === 'extension_error')).toMatchObject({ event: 'message_end' });
  expect((await peer.ok({ type: 'get_messages' })).messages[0]).toMatchObject({ content: [{ text: 'go' }] });
});

verifies('X81', 'getSettings keeps the keys of others', async ({ open }) => {
  const home = newHome();
  writeSettings(home, { 'my-extension': { colour: 'red' }, steeringMode: 'all' });
  homeWithCommands(
    { show: 'const { steeringMode, ...rest } = pi.getSettings(); tell(ctx, [steeringMode, rest["my-extension"]]);' },
    '',
    home,
  );
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/show' });

  expect(await nextNotification(peer)).toEqual(['all', { colour: 'red' }]);
});

verifies(
  'X82',
  'withSession sends messages to the new session',
  async ({ open }) => {
    const { home } = homeWithCommands({
      next: `await ctx.newSession({ withSession: async (next) => {
        await next.sendMessage({ customType: 'note', content: 'from before', display: true });
        await next.sendUserMessage('begin');
      } });`,
    });
    const { peer } = await open({ home, script: [{ text: 'one' }, { text: 'two' }] });
    await peer.run('old');

    await peer.ok({ type: 'prompt', message: '/next' });
    await peer.next('agent_settled');

    const { messages } = await peer.ok({ type: 'get_messages' });
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['custom', 'user', 'assistant']);
  },
  AGENT_SWITCHES_SESSION,
);

verifies(
  'X83',
  'refreshModels supplies the models of a provider',
  async ({ open }) => {
    const double = await ProviderDouble.start(completions);
    const { home } = homeWithCommands(
      {},
      `pi.registerProvider('acme', { baseUrl: process.env.ACME_URL, apiKey: 'ACME_KEY', api: 'openai-completions',
        refreshModels: async ({ credential, allowNetwork, signal }) => {
          if (!allowNetwork || signal.aborted) return [];
          return [{ id: 'found-' + credential.key, name: 'Found', reasoning: false, input: ['text'],
            cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 32000, maxTokens: 4000 }];
        } });
      pi.registerProvider('broken', { baseUrl: 'http://127.0.0.1:1', apiKey: 'x', api: 'openai-completions',
        refreshModels: async () => { throw new Error('no list'); } });`,
    );
    const { peer } = await open({
      home,
      args: ['--model', 'acme/found-k'],
      env: { ACME_URL: double.url, ACME_KEY: 'k' },
    });
    double.respondWith({ text: 'hello' });

    const records = await peer.run('go');

    expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'hello' });
    expect([...peer.records, ...records]).toContainEqual(
      expect.objectContaining({ type: 'extension_error', event: 'refresh_models', error: 'no list' }),
    );
  },
  ['stdio', 'unix'],
);

for (const [label, remove] of [
  ['unregisterProvider', `pi.unregisterProvider('acme');`],
  ['a reload', 'await ctx.reload();'],
] as const) {
  verifies('X122', `${label} stops the refresh of the models of a provider`, async ({ open }) => {
    const { home } = homeWithCommands({
      register: `pi.registerProvider('acme', { baseUrl: 'http://127.0.0.1:1', apiKey: 'x', api: 'openai-completions',
        models: [], refreshModels: ({ signal }) => new Promise((resolve) => {
          globalThis.release = () => {
            resolve([{ id: 'late', name: 'Late', reasoning: false, input: ['text'],
              cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 32000, maxTokens: 4000 }]);
            return signal.aborted;
          };
          tell(ctx, 'requested');
        }) });`,
      remove,
      release: 'tell(ctx, globalThis.release());',
    });
    const { peer } = await open({ home });
    await peer.ok({ type: 'prompt', message: '/register' });
    expect(await nextNotification(peer)).toBe('requested');

    await peer.ok({ type: 'prompt', message: '/remove' });
    await peer.ok({ type: 'prompt', message: '/release' });

    expect(await nextNotification(peer)).toBe(true);
    const { models } = await peer.ok({ type: 'get_available_models' });
    expect(models).not.toContainEqual(expect.objectContaining({ provider: 'acme' }));
    expect(peer.records).not.toContainEqual(expect.objectContaining({ type: 'extension_error' }));
  });
}

verifies(
  'X84',
  'a provider object is listed once it has a key, and streams responses',
  async ({ open }) => {
    const { home } = homeWithCommands(
      {},
      `const model = (provider) => ({ id: 'own', name: 'Own', api: 'own-api', provider, baseUrl: 'http://127.0.0.1:1', reasoning: false,
        input: ['text'], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 32000, maxTokens: 4000, extra: 7 });
      const provider = (id, variable) => ({ id, name: id, getModels: () => [model(id)],
        auth: { apiKey: { name: 'key', resolve: async ({ ctx }) => {
          const apiKey = await ctx.env(variable);
          return apiKey ? { auth: { apiKey, headers: { 'x-own': '1' } } } : undefined;
        } } },
        streamSimple: async function* (chosen, context, options) {
          const text = JSON.stringify([chosen.api, chosen.extra, options.apiKey, options.headers['x-own']]);
          const message = { role: 'assistant', content: [{ type: 'text', text }], api: chosen.api, provider: id, model: chosen.id,
            usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
            stopReason: 'stop', timestamp: 1 };
          yield { type: 'start', partial: message };
          yield { type: 'text_start', contentIndex: 0, partial: message };
          yield { type: 'text_delta', contentIndex: 0, delta: text, partial: message };
          yield { type: 'text_end', contentIndex: 0, content: text, partial: message };
          yield { type: 'done', reason: 'stop', message };
        } });
      pi.registerProvider(provider('with-key', 'OWN_KEY'));
      pi.registerProvider(provider('without-key', 'OTHER_KEY'));`,
    );
    const { peer } = await open({ home, args: ['--model', 'with-key/own'], env: { OWN_KEY: 'k' } });

    await peer.run('go');
    const { models } = await peer.ok({ type: 'get_available_models' });

    expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: '["own-api",7,"k","1"]' });
    expect(models.map(({ provider }: { provider: string }) => provider)).toEqual(['with-key']);
  },
  ['stdio', 'unix'],
);
