import { expect } from 'vitest';
import { userExtension } from '../../support/agent/extensions.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { verifies } from '../../support/verifies.ts';

const provider = (url: string, streamSimple: string) => `
  import { collapseSystemMessages, getCurrentSystemPrompt, getCurrentTools, openAICompletionsApi } from '@earendil-works/pi-ai';
  export default (pi) => pi.registerProvider('acme', {
    api: 'acme-wire', baseUrl: '${url}', apiKey: 'the-key',
    models: [{ id: 'large', name: 'Large', reasoning: false, input: ['text'], contextWindow: 100000, maxTokens: 1000,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }],
    streamSimple: (model, context, options) => { ${streamSimple} },
  });`;

verifies('X120', 'code of a provider passes the transcript on to an API kind of pi-ai', async ({ open }) => {
  const double = await ProviderDouble.start(completions);
  const home = newHome();
  userExtension(
    home,
    'acme.ts',
    provider(
      double.url,
      `
      const { messages } = collapseSystemMessages(context);
      return openAICompletionsApi().streamSimple({ ...model, api: 'openai-completions' }, { messages }, options);`,
    ),
  );
  const { peer } = await open({
    home,
    args: ['--model', 'acme/large', '--tools', 'read'],
  });
  double.respondWith({ text: 'hello there' });

  const records = await peer.run('say hello');

  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'hello there' });
  expect(double.requests[0]).toMatchObject({
    headers: { authorization: 'Bearer the-key' },
    body: {
      messages: [{ role: 'system', content: expect.stringContaining('read') }, { role: 'user' }],
      tools: [{ function: { name: 'read' } }],
    },
  });
});

verifies('X120', 'the transcript of a provider has the prompt and the tools in both forms', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'acme.ts',
    provider(
      'http://127.0.0.1:1',
      `
      const { messages, systemPrompt, tools } = context;
      const same = getCurrentSystemPrompt(messages) === systemPrompt && getCurrentTools(messages).length === tools.length;
      const text = [messages.map(({ role }) => role).join(' '), tools.map(({ name }) => name), same].join(', ');
      const message = { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' };
      return (async function* () { yield { type: 'done', reason: 'stop', message }; })();`,
    ),
  );
  const { peer } = await open({
    home,
    args: ['--model', 'acme/large', '--tools', 'read'],
  });

  await peer.run('go');

  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'system user, read, true' });
});

verifies('X121', 'a name of pi that tau lacks fails where it is used, not at the import', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'missing.ts',
    `import { fauxProvider } from '@earendil-works/pi-ai';
     import { Agent } from '@earendil-works/pi-agent-core';
     class Mine extends Agent {}
     export default (pi) => {
       pi.registerCommand('faux', { handler: async () => { fauxProvider(); } });
       pi.registerCommand('agent', { handler: async () => { new Mine(); } });
     };`,
  );
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/faux' });
  const faux = await peer.next('extension_error');
  await peer.ok({ type: 'prompt', message: '/agent' });
  const agent = await peer.next('extension_error');

  expect([faux.error, agent.error]).toEqual([
    'fauxProvider is not available to extensions in tau',
    'Agent is not available to extensions in tau',
  ]);
});
