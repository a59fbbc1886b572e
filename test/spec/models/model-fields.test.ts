import { expect, it } from 'vitest';
import { openAfterTwoTurns } from '../../support/agent/compaction.ts';
import { openTestAgent, readSessionFile } from '../../support/agent/test-agent.ts';
import { anthropicApi } from '../../support/providers/anthropic-messages.ts';
import { completions } from '../../support/providers/completions.ts';
import { configureProviders, OWN_KEY, providerOf } from '../../support/providers/configured-providers.ts';
import { responsesApi } from '../../support/providers/openai-responses.ts';
import type { Api, ProviderDouble } from '../../support/providers/provider-double.ts';
import { verifies } from '../../support/verifies.ts';

/** Opens an agent whose only model has these fields in models.json. */
async function openWith(api: Api, model: object, { env = {}, args = [] as string[], settings = {} } = {}) {
  const { home, doubles } = await configureProviders([api], { model, settings });
  const { peer } = await openTestAgent('stdio', {
    home,
    env: { ...OWN_KEY, ...env },
    args: ['--model', `${providerOf(api)}/m`, ...args],
  });
  return { peer, double: doubles[0] as ProviderDouble };
}

/** The body and headers of the first request with these fields. */
async function requestWith(api: Api, model: object, options: Parameters<typeof openWith>[2] = {}) {
  const { peer, double } = await openWith(api, model, options);
  double.respondWith({ text: 'ok' });
  await peer.run('go');
  return double.request(0);
}

verifies(
  'M29',
  'assistant messages and tool results have their duration, and the level of thinking',
  async ({ open }) => {
    const call = { toolCall: { name: 'bash', arguments: { command: 'true' } } };
    const { peer, sessionFiles } = await open({ script: [{ steps: [call] }, { text: 'done' }] });

    await peer.run('go');

    const { messages } = await peer.ok({ type: 'get_messages' });
    const [, assistant, result] = messages;
    expect(assistant).toMatchObject({ durationMs: expect.any(Number), thinkingLevel: expect.any(String) });
    expect(result).toMatchObject({ role: 'toolResult', durationMs: expect.any(Number) });
    expect(readSessionFile(sessionFiles()[0] ?? '').at(-1)).toMatchObject({
      message: { durationMs: expect.any(Number), thinkingLevel: expect.any(String) },
    });
  },
);

verifies('M30', 'retries of a summary are published', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [{ error: { status: 529 } }, { text: 'the gist' }]);
  const start = peer.records.length;

  await peer.ok({ type: 'compact' });

  expect(peer.records.slice(start).filter(({ type }) => type.startsWith('summarization_'))).toEqual([
    {
      type: 'summarization_retry_scheduled',
      attempt: 1,
      maxAttempts: 3,
      delayMs: expect.any(Number),
      errorMessage: '529 Overloaded',
    },
    { type: 'summarization_retry_attempt_start', source: 'compaction', reason: 'manual' },
    { type: 'summarization_retry_finished' },
  ]);
});

it('[L52] the highest tier that a request exceeds prices all of it', async () => {
  const prices = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
  const tier = (inputTokensAbove: number, price: number) => ({
    inputTokensAbove,
    input: price,
    output: price,
    cacheRead: price,
    cacheWrite: price,
  });
  const cost = { ...prices, tiers: [tier(5000, 10), tier(1000, 4)] };
  const { peer, double } = await openWith(completions, { cost });
  const inputs = [1000, 1001, 9000];
  double.respondWith(...inputs.map((input) => ({ text: 'ok', usage: { input, output: 0 } })));

  for (const input of inputs) await peer.run(`with ${input}`);

  const { messages } = await peer.ok({ type: 'get_messages' });
  const totals = messages.flatMap(({ role, usage }: { role: string; usage: { cost: { total: number } } }) =>
    role === 'assistant' ? [usage.cost.total * 1_000_000] : [],
  );
  expect(totals).toEqual([1000, 4004, 90_000].map((total) => expect.closeTo(total)));
});

it.each([
  [
    { cost: 0.5, is_byok: false },
    { total: 0.5, totalFromProvider: true },
  ],
  [
    { cost: 0.1, is_byok: true, cost_details: { upstream_inference_cost: 0.4 } },
    { total: 0.5, totalFromProvider: true },
  ],
  [{ cost: 0.1, is_byok: true }, { total: expect.closeTo(0.00001) }],
])('[L53] the cost that OpenRouter reports as %j is used', async (reported, cost) => {
  const { peer, double } = await openWith(completions, {});
  const usage = { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10, ...reported };
  const chunk = { choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }], usage };
  double.respondWith({ recording: `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n` });

  await peer.run('go');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[1].usage.cost).toMatchObject(cost);
});

it.each([completions, responsesApi])('[L54] sampling parameters are merged into the body of $name', async (api) => {
  const { body } = await requestWith(
    api,
    { samplingParams: { top_p: 0.9, top_k: 20 }, samplingParamsByThinkingLevel: { high: { top_k: 40 } } },
    { args: ['--thinking', 'high'] },
  );

  expect(body).toMatchObject({ top_p: 0.9, top_k: 40 });
});

it.each<[Api, object, object]>([
  [completions, { vllmPriority: 3, zaiToolStream: true }, { priority: 3, tool_stream: true }],
  [
    completions,
    {
      thinkingFormat: 'chat-template',
      chatTemplateKwargs: {
        enable_thinking: { $var: 'thinking.enabled' },
        effort: { $var: 'thinking.effort' },
        budget: { $var: 'thinking.budget' },
        keep: true,
      },
      supportsThinkingTokenBudget: true,
    },
    {
      chat_template_kwargs: { enable_thinking: true, effort: 'high', budget: 5000, keep: true },
      thinking_token_budget: 5000,
    },
  ],
  [
    completions,
    { thinkingFormat: 'baseten', chatTemplateArgs: { on: { $var: 'thinking.enabled' } } },
    { chat_template_args: { on: true }, reasoning_effort: 'high' },
  ],
  [anthropicApi, { supportsEagerToolInputStreaming: true }, { tools: [{ eager_input_streaming: true }] }],
])('[L55] the body of %o follows compat %j', async (api, compat, expected) => {
  const settings = { thinkingBudgets: { high: 5000 } };
  const { body } = await requestWith(api, { compat }, { args: ['--thinking', 'high', '--tools', 'read'], settings });

  expect(body).toMatchObject(expected);
});

it.each<[Api, object, string]>([
  [responsesApi, { supportsMaxOutputTokens: false }, 'max_output_tokens'],
  [anthropicApi, { supportsCacheControlOnTools: false }, 'cache_control"}],"messages'],
])('[L55] the body of %o omits a field by compat %j', async (api, compat, field) => {
  expect((await requestWith(api, { compat })).text).not.toContain(field);
});

it('[L55] a server without finish reasons ends its answer with the stream', async () => {
  const { peer, double } = await openWith(completions, { compat: { supportsFinishReason: false } });
  double.respondWith({ recording: 'data: {"choices":[{"index":0,"delta":{"content":"All."}}]}\n\n' });

  expect((await peer.run('go')).at(-1)).toMatchObject({ outcome: 'ok' });
});

it('[L55] session affinity headers are sent on request', async () => {
  const compat = { sendSessionAffinityHeaders: true, sessionAffinityFormat: 'openrouter' };

  expect((await requestWith(completions, { compat })).headers).toHaveProperty('x-session-id');
});

it.each<[Api, object]>([
  [responsesApi, { prompt_cache_retention: '24h' }],
  [completions, { prompt_cache_retention: '24h' }],
])('[L55] PI_CACHE_RETENTION=long keeps the prompt for long on %o', async (api, expected) => {
  const env = { PI_CACHE_RETENTION: 'long' };
  const { body } = await requestWith(api, { compat: { supportsLongCacheRetention: true } }, { env });

  expect(body).toMatchObject(expected);
});

it('[L55] thinking without a signature is replayed to a server that allows an empty one', async () => {
  const { peer, double } = await openWith(anthropicApi, { compat: { allowEmptySignature: true } });
  const events = [
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: 'hm' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'Yes.' } },
    { type: 'message_stop' },
  ];
  double.respondWith(
    { recording: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') },
    { text: 'ok' },
  );
  await peer.run('one');

  await peer.run('two');

  const { body } = await double.request(1);
  expect(body.messages[1].content).toMatchObject([
    { type: 'thinking', thinking: 'hm', signature: '' },
    { type: 'text' },
  ]);
});
