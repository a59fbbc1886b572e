import { expect, it } from 'vitest';
import { userExtension } from '../../support/agent/extensions.ts';
import { newGate, newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { completions } from '../../support/providers/completions.ts';
import { configureProviders, OWN_KEY, providerOf } from '../../support/providers/configured-providers.ts';
import { responsesApi } from '../../support/providers/openai-responses.ts';
import type { ProviderDouble } from '../../support/providers/provider-double.ts';
import { verifies } from '../../support/verifies.ts';

it.each([
  'Requested 115120 to generate tokens, following a prompt of length 40055, which exceeds the max limit of 128000 tokens.',
  'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
  'Too many input tokens. Max input tokens: 8192, request input token count: 9279',
  'Malformed input request: expected maxLength: 50000, actual: 52611, please reformat your input and try again.',
])('[L48] the run fails with context_overflow after: %s', async (message) => {
  const { home, doubles } = await configureProviders([completions], { settings: { compaction: { enabled: false } } });
  doubles[0]?.respondWith({ status: 400, message });
  const args = ['--model', `${providerOf(completions)}/m`];
  const { peer } = await openTestAgent('stdio', { home, env: OWN_KEY, args });

  const records = await peer.run('go');

  expect(records.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'context_overflow' });
});

verifies('L49', 'the estimate counts Chinese and Japanese text by its UTF-8 bytes', async ({ open }) => {
  const script = [{ text: 'ok' }];
  const estimates = [];
  for (const text of ['latin letters ab', '汉字的文本估计应当按照字节', '日本語の文章も同じように']) {
    const { peer } = await open({ script });
    await peer.run(text.repeat(5000));
    const { contextUsage } = await peer.ok({ type: 'get_session_stats' });
    estimates.push(contextUsage.tokens / (text.length * 5000));
  }

  const [latin, chinese, japanese] = estimates;
  expect(latin).toBeCloseTo(0.25, 1);
  expect(chinese).toBeCloseTo(0.75, 1);
  expect(japanese).toBeCloseTo(0.75, 1);
});

verifies('L50', 'get_available_models waits for the providers of extensions that are loading', async ({ open }) => {
  const home = newHome();
  const gate = newGate();
  userExtension(
    home,
    'provider.ts',
    `import { existsSync } from 'node:fs';
    export default async (pi) => {
      while (!existsSync(${JSON.stringify(gate.path)})) await new Promise((resolve) => setTimeout(resolve, 5));
      pi.registerProvider('late', {
        baseUrl: 'http://127.0.0.1:1', apiKey: 'k', api: 'openai-completions',
        models: [{ id: 'm', contextWindow: 1000, maxTokens: 100 }],
      });
    };`,
  );
  const { peer } = await open({ home, args: ['--offline'] });
  const listed = peer.ok({ type: 'get_available_models' });
  await peer.ok({ type: 'get_state' });

  gate.open();

  const { models } = await listed;
  expect(models.map(({ provider, id }: { provider: string; id: string }) => `${provider}/${id}`)).toContain('late/m');
});

it('[L51] an assistant message of another model is replayed to a Responses server with an id and a status', async () => {
  const { home, doubles } = await configureProviders([completions, responsesApi]);
  const [first, second] = doubles as [ProviderDouble, ProviderDouble];
  first.respondWith({ text: 'From the first model.' });
  second.respondWith({ text: 'From the second.' });
  const args = ['--model', `${providerOf(completions)}/m`];
  const { peer } = await openTestAgent('stdio', { home, env: OWN_KEY, args });
  await peer.run('one');
  await peer.ok({ type: 'set_model', provider: providerOf(responsesApi), modelId: 'm' });

  await peer.run('two');

  const { body } = await second.request(0);
  expect(body.input[1]).toMatchObject({
    type: 'message',
    role: 'assistant',
    id: expect.stringMatching(/^msg_/),
    status: 'completed',
    content: [{ type: 'output_text', text: 'From the first model.' }],
  });
});
