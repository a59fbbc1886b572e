import { expect } from 'vitest';
import type { AssistantMessage, MessageUpdateEvent } from '../../../src/protocol/generated/vocabulary.ts';
import { applyStep } from '../../../src/wire/assistant-message.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { NO_RETRY } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const updates = (records: readonly WireRecord[]) =>
  records.filter(({ type }) => type === 'message_update') as unknown as MessageUpdateEvent[];

const stepNames = (records: readonly WireRecord[]) =>
  updates(records).map(({ assistantMessageEvent: { type } }) => type);

/** Each assistant message as folded from its steps, and as its message_end carries it but for the fields of its end. */
function foldMessages(records: readonly WireRecord[]): { streamed: AssistantMessage; whole: AssistantMessage }[] {
  const messages: { streamed: AssistantMessage; whole: AssistantMessage }[] = [];
  let streamed: AssistantMessage | undefined;
  for (const record of records) {
    const { role } = (record['message'] ?? {}) as { role?: string };
    if (record.type === 'message_start' && role === 'assistant') streamed = record['message'] as AssistantMessage;
    if (record.type === 'message_update' && streamed) {
      const { assistantMessageEvent, usage } = record as unknown as MessageUpdateEvent;
      streamed = { ...applyStep(streamed, assistantMessageEvent), ...(usage ? { usage } : {}) };
    }
    if (record.type === 'message_end' && streamed && role === 'assistant') {
      const { durationMs: _duration, thinkingLevel: _level, ...whole } = record['message'] as AssistantMessage;
      messages.push({ streamed, whole });
    }
  }
  return messages;
}

const requestDeltas = (peer: Peer) => peer.ok({ type: 'hello', stream: 'delta' });

const rich = {
  steps: [
    { thinking: 'First I think. ', chunks: 3 },
    { usage: { input: 7 } },
    { text: 'Then I speak, at some length.' },
    { toolCall: { name: 'bash', id: 'call_1', arguments: { command: 'echo hi' } }, chunks: 4 },
  ],
};

verifies('I7 M17 M19', 'in delta form an update carries its step and nothing else', async ({ open }) => {
  const { peer } = await open({ script: [rich, { text: 'done' }] });
  await requestDeltas(peer);

  const records = await peer.run('go');

  for (const update of updates(records)) {
    const { type, assistantMessageEvent: step, usage, ...rest } = update;
    expect(rest).toEqual({});
    expect(step).not.toHaveProperty('partial');
    expect(step).not.toHaveProperty('message');
    expect(step).not.toHaveProperty('error');
  }
  const steps = updates(records).map(({ assistantMessageEvent }) => assistantMessageEvent);
  expect(steps.find(({ type }) => type === 'toolcall_start')).toEqual({
    type: 'toolcall_start',
    contentIndex: 2,
    id: 'call_1',
    toolName: 'bash',
  });
  expect(steps.filter(({ type }) => type === 'done')).toEqual([
    { type: 'done', reason: 'toolUse' },
    { type: 'done', reason: 'stop' },
  ]);
});

verifies('M17', 'in delta form an error step carries its reason, and message_end the message', async ({ open }) => {
  const { peer } = await open({
    settings: NO_RETRY,
    script: [{ steps: [{ text: 'half' }, { cut: true }] }],
    args: ['--stream', 'delta'],
  });

  const records = await peer.run('go');

  expect(updates(records).at(-1)).toMatchObject({ assistantMessageEvent: { type: 'error', reason: 'error' } });
  expect(updates(records).at(-1)?.assistantMessageEvent).toEqual({ type: 'error', reason: 'error' });
  expect(records.findLast(({ type }) => type === 'message_end')).toMatchObject({
    message: { errorMessage: 'terminated', content: [{ text: 'half' }] },
  });
  await waitUntilSettled(peer);
});

verifies('M18', 'in delta form usage is sent only when it changes', async ({ open }) => {
  const { peer } = await open({
    script: [
      {
        steps: [
          { text: 'a', chunks: 1 },
          { usage: { input: 10, output: 1 } },
          { thinking: 'b', chunks: 1 },
          { usage: { input: 10, output: 1 } },
          { text: 'c', chunks: 1 },
          { usage: { input: 10, output: 2 } },
        ],
      },
    ],
  });
  await requestDeltas(peer);

  const records = await peer.run('go');

  const streamed = updates(records).map(({ assistantMessageEvent: { type }, usage }) =>
    usage ? `${type} ${usage.input}+${usage.output}` : type,
  );
  expect(streamed).toEqual([
    'start',
    'text_start',
    'text_delta',
    'text_end 10+1',
    'thinking_start',
    'thinking_delta',
    'thinking_end',
    'text_start',
    'text_delta',
    'text_end 10+2',
    'done',
  ]);
});

verifies('M18 M21', 'in delta form the usage of every message is sent before its message_end', async ({ open }) => {
  const { peer } = await open({ script: [rich, { text: 'done' }, { text: 'Hello' }] });
  await requestDeltas(peer);

  await peer.run('go');
  await peer.run('again');

  const messages = foldMessages(peer.records);
  expect(messages).toHaveLength(3);
  for (const { streamed, whole } of messages) expect(streamed).toEqual(whole);
  expect(messages.map(({ whole: { usage } }) => usage.totalTokens ?? 0).every((tokens) => tokens > 0)).toBe(true);
});

for (const stream of ['cumulative', 'delta']) {
  verifies('M21', `folding the steps in ${stream} form yields the message of message_end`, async ({ open }) => {
    const { peer } = await open({
      settings: NO_RETRY,
      script: [
        rich,
        {
          steps: [
            { text: 'wörd \u2028 🙂 ', times: 500 },
            { thinking: 'x', times: 500 },
            { text: 'y', times: 500 },
          ],
        },
        { steps: [{ toolCall: { name: 'nothing', rawArguments: '{bad' }, chunks: 3 }] },
        { steps: [{ text: 'half' }, { cut: true }] },
      ],
      args: ['--stream', stream],
    });

    await peer.run('go');
    await peer.run('again');

    const messages = foldMessages(peer.records);
    expect(messages.map(({ whole: { stopReason } }) => stopReason)).toEqual(['toolUse', 'stop', 'toolUse', 'error']);
    for (const { streamed, whole } of messages) {
      const { errorMessage: _message, errorCode: _code, ...rest } = whole;
      expect(streamed).toMatchObject(rest);
    }
  });
}

verifies('M20', 'in delta form the bytes sent grow linearly with the length of the message', async ({ open }) => {
  const word = '0123456789';
  const lengths = [4000, 16_000];
  const { peer } = await open({ script: lengths.map((times) => ({ text: word, times })), args: ['--stream', 'delta'] });

  for (const length of lengths) {
    const records = await peer.run('go');

    // Each delta costs its own text and one envelope at most; the ends of block and message repeat the text.
    const delta = {
      type: 'message_update',
      assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: word },
    };
    const bytes = updates(records).reduce((sum, update) => sum + JSON.stringify(update).length, 0);
    expect(bytes).toBeLessThan(length * (JSON.stringify(delta).length + word.length) + 10_000);
  }
});

verifies('M17 M5', 'the stream form can be changed between two runs', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { repeat: true }] });

  const runs = [await peer.run('a')];
  await requestDeltas(peer);
  runs.push(await peer.run('b'));
  await peer.ok({ type: 'hello', stream: 'cumulative' });
  runs.push(await peer.run('c'));

  expect(runs.map((records) => updates(records).every((update) => 'message' in update))).toEqual([true, false, true]);
  expect(runs.map((records) => stepNames(records))).toEqual(
    runs.map(() => ['start', 'text_start', 'text_delta', 'text_end', 'done']),
  );
});
