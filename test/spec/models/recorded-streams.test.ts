import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { NO_RETRY, openTestAgent } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { anthropicApi } from '../../support/providers/anthropic-messages.ts';
import { completions } from '../../support/providers/completions.ts';
import { configureProviders, OWN_KEY, providerOf } from '../../support/providers/configured-providers.ts';
import { googleApi } from '../../support/providers/google-generative-ai.ts';
import { responsesApi } from '../../support/providers/openai-responses.ts';
import type { Api, ProviderDouble, Recording } from '../../support/providers/provider-double.ts';

const apisByPrefix: Readonly<Record<string, Api>> = {
  anthropic: anthropicApi,
  completions,
  google: googleApi,
  responses: responsesApi,
};

const recordingOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../fixtures/streams', `${name}.sse`), 'utf8');

/** Opens an agent whose model server plays the recordings of the API that the name begins with. */
async function openFor(name: string, settings: object = {}) {
  const api = apisByPrefix[name.slice(0, name.indexOf('-'))] as Api;
  const { home, doubles } = await configureProviders([api], { settings });
  const { peer } = await openTestAgent('stdio', {
    home,
    env: OWN_KEY,
    args: ['--model', `${providerOf(api)}/m`, '--stream', 'delta'],
  });
  return { peer, double: doubles[0] as ProviderDouble };
}

/** The assistant message and the end of one run that plays this recording. */
async function playOnce(
  { peer, double }: { peer: Peer; double: ProviderDouble },
  recording: Recording,
): Promise<{ message: Record<string, unknown>; settled: Record<string, unknown> | undefined }> {
  double.respondWith(recording);
  const records = await peer.run('go');
  const { messages } = await peer.ok({ type: 'get_messages' });
  return { message: messages.at(-1), settled: records.at(-1) };
}

const deliveries: readonly Omit<Recording, 'recording'>[] = [
  {},
  { chunkBytes: 1 },
  { chunkBytes: 13, lineEnd: '\r\n' },
  { chunkBytes: 7, lineEnd: '\r' },
  { unterminated: true },
  { unterminated: true, lineEnd: '\r\n', chunkBytes: 5 },
  { unterminated: true, cut: true },
];

it.each(['anthropic-text', 'completions-text', 'google-stop-on-every-chunk', 'responses-text'])(
  '[L42] %s is the same message however its bytes are split and its lines end, also without the last blank line',
  async (name) => {
    const agent = await openFor(name, NO_RETRY);

    for (const delivery of deliveries) {
      const { message, settled } = await playOnce(agent, { recording: recordingOf(name), ...delivery });

      expect(settled).toMatchObject({ outcome: 'ok' });
      expect(message['content']).toMatchObject([{ type: 'text', text: 'Grüße aus 東京.' }]);
    }
  },
);

it.each(['anthropic-text', 'completions-text', 'responses-text'])(
  '[L42] half of the last event of %s counts as lost',
  async (name) => {
    const agent = await openFor(name, NO_RETRY);
    const recording = recordingOf(name);
    const half = recording.slice(0, recording.indexOf('東京'));

    const { message, settled } = await playOnce(agent, { recording: half });

    expect(settled).toMatchObject({ outcome: 'error', errorCode: 'connection_lost' });
    expect(message['content']).toMatchObject([{ type: 'text', text: 'Grüße' }]);
  },
);

it.each([
  ['anthropic-llamacpp-error', 'the slot was taken away (invalid_request_error)'],
  ['responses-llamacpp-error', 'the slot was taken away (invalid_request_error)'],
  ['anthropic-error-field', 'the grammar does not parse (invalid_request_error)'],
  ['completions-error-field', 'the grammar does not parse (invalid_request_error)'],
  ['responses-error-field', 'the grammar does not parse (invalid_request_error)'],
])('[L43] %s fails the run with the text of the server and is not retried', async (name, errorMessage) => {
  const agent = await openFor(name);

  const { message, settled } = await playOnce(agent, { recording: recordingOf(name) });

  expect(settled).toMatchObject({ outcome: 'error', errorCode: 'model_error', errorMessage, httpStatus: 400 });
  expect(message['content']).toMatchObject([{ type: 'text', text: 'So far' }]);
  expect(agent.double.requests).toHaveLength(1);
});

it.each(['anthropic', 'completions', 'responses', 'google'])(
  '[L43] a plain text in the field error of a stream of %s is reported',
  async (api) => {
    const agent = await openFor(`${api}-text`, NO_RETRY);

    const { settled } = await playOnce(agent, { recording: 'error: out of memory\n\n' });

    expect(settled).toMatchObject({ outcome: 'error', errorCode: 'model_error', errorMessage: 'out of memory' });
  },
);

it.each([
  ['google-recitation-after-stop', 'The model did not finish its answer (RECITATION)'],
  ['google-safety-after-stop', 'The answer was withheld (SAFETY)'],
  ['google-error-after-stop', 'The cached content has expired (INVALID_ARGUMENT)'],
])('[L44] %s fails the run although a finish reason came before', async (name, errorMessage) => {
  const agent = await openFor(name, NO_RETRY);

  const { message, settled } = await playOnce(agent, { recording: recordingOf(name), chunkBytes: 20 });

  expect(settled).toMatchObject({ outcome: 'error', errorCode: 'model_error', errorMessage });
  expect(message['content']).toMatchObject([{ type: 'text', text: 'So far' }]);
});

it.each([
  ['completions-cache-write', { input: 50, cacheRead: 20, cacheWrite: 30, output: 5 }],
  ['completions-groq-usage', { input: 30, output: 5 }],
  ['responses-text', { input: 50, cacheRead: 20, cacheWrite: 30, output: 9 }],
  ['google-stop-on-every-chunk', { input: 55, cacheRead: 10, output: 10, reasoning: 4 }],
])('[L45] %s counts as its server reports it: %j', async (name, usage) => {
  const agent = await openFor(name);

  const { message } = await playOnce(agent, { recording: recordingOf(name) });

  expect(message['usage']).toMatchObject(usage);
});

it('[L46] a tool call whose input came with its start is run', async () => {
  const { peer, double } = await openFor('anthropic-input-in-start');
  double.respondWith({ recording: recordingOf('anthropic-input-in-start') }, { text: 'Done.' });

  await peer.run('go');

  expect((await double.request(1)).text).toContain('from the start');
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[1].content).toMatchObject([{ name: 'bash', arguments: { command: 'echo from the start' } }]);
});

it.each([
  ['responses-rest-in-item', 'The first half and the second.'],
  ['responses-other-text-in-item', 'The first half'],
  ['responses-output-at-end', 'All at the end.'],
  ['completions-whole-message-at-end', 'The first half and the second.'],
  ['completions-growing-message', 'The first half.'],
])('[L47] %s becomes: %s', async (name, text) => {
  const agent = await openFor(name);

  const { message, settled } = await playOnce(agent, { recording: recordingOf(name) });

  expect(settled).toMatchObject({ outcome: 'ok' });
  expect(message['content']).toMatchObject([{ type: 'text', text }]);
});
