import { expect } from 'vitest';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { NO_RETRY, newGate, readSessionFile } from '../../support/agent/test-agent.ts';
import { outline, type WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const ofType = (records: readonly WireRecord[], type: string) => records.filter((record) => record.type === type);

for (const [what, failing, errorCode, errorMessage] of [
  ['rejects the request', { error: { status: 400, message: 'bad thing' } }, 'model_error', '400 bad thing'],
  ['has an internal error', { error: { status: 500 } }, 'model_error', '500 Internal server error'],
  ['rejects the key', { error: { status: 401 } }, 'auth_failed', '401 Unauthorized'],
  ['forbids access', { error: { status: 403 } }, 'auth_failed', '403 Forbidden'],
  ['requires a payment', { error: { status: 402 } }, 'payment_required', '402 Payment required'],
  ['returns nothing', { steps: [] }, 'empty_answer', 'The model returned an empty response'],
  ['limits the rate', { error: { status: 429 } }, 'rate_limited', '429 Too many requests'],
  ['is overloaded', { error: { status: 529 } }, 'overloaded', '529 Overloaded'],
  [
    'exceeds its context window',
    { overflow: true },
    'context_overflow',
    '400 prompt is too long: the context window is exceeded',
  ],
  ['loses the connection', { cut: true }, 'connection_lost', 'terminated'],
] as const) {
  // A server that responds begins the message before it fails.
  const isRejected = 'error' in failing || 'overflow' in failing;
  verifies(
    'R10 R13 R15 R16 R22 M12 M28 E15 E16',
    `a model that ${what} before its first token ends the run`,
    async ({ open }) => {
      const { peer, sessionFiles } = await open({ settings: NO_RETRY, script: [failing, { text: 'fine' }] });

      const records = await peer.run({ message: 'go', clientMessageId: 'c1' });

      expect(outline(records).slice(5)).toEqual([
        'message_start',
        ...(isRejected ? [] : ['message_update:start', 'message_update:error']),
        'message_end',
        'turn_end',
        'agent_end',
        'agent_settled',
      ]);
      const message = ofType(records, 'turn_end')[0]?.['message'];
      expect(message).toMatchObject({ content: [], stopReason: 'error', errorMessage, errorCode });
      expect(readSessionFile(sessionFiles()[0] ?? '').at(-1)).toMatchObject({ message });
      expect(await waitUntilSettled(peer)).toEqual({
        type: 'agent_settled',
        runId: expect.any(String),
        aborted: false,
        outcome: 'error',
        errorCode,
        errorMessage,
        ...(/^\d/.test(errorMessage) ? { httpStatus: Number.parseInt(errorMessage, 10) } : {}),
        clientMessageIds: ['c1'],
      });
      expect((await peer.run('again')).at(-1)).toMatchObject({ outcome: 'ok' });
    },
  );
}

verifies('E16', 'after retries the run ends with the HTTP response of the last attempt', async ({ open }) => {
  const { peer } = await open({
    settings: { retry: { maxRetries: 2, baseDelayMs: 1, maxDelayMs: 1000 } },
    script: [
      { error: { status: 429, retryAfterMs: 1 } },
      { cut: true },
      { error: { status: 503 } },
      { error: { status: 429, retryAfterMs: 60_000 } },
    ],
  });

  const first = (await peer.run('go')).at(-1);
  const second = (await peer.run('again')).at(-1);

  expect(first).toMatchObject({ type: 'agent_settled', outcome: 'error', httpStatus: 503 });
  expect(first).not.toHaveProperty('retryAfterMs');
  expect(second).toMatchObject({ errorCode: 'rate_limited', httpStatus: 429, retryAfterMs: 60_000 });
});

verifies('R21 R22 M15', 'an interrupted stream keeps the partial message', async ({ open }) => {
  const { peer } = await open({
    settings: NO_RETRY,
    script: [{ steps: [{ thinking: 'Hm.' }, { text: 'Well, ' }, { cut: true }] }, { text: 'fine' }],
  });

  const records = await peer.run('go');

  expect(outline(records).slice(-6)).toEqual([
    'message_update:text_end',
    'message_update:error',
    'message_end',
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
  expect(ofType(records, 'turn_end')[0]).toMatchObject({
    message: {
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Well, ' },
      ],
      stopReason: 'error',
      errorMessage: 'terminated',
    },
    toolResults: [],
  });
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'error', errorCode: 'connection_lost' });
});

verifies('R22', 'a tool call in a failed assistant message does not run', async ({ open }) => {
  const { peer } = await open({
    settings: NO_RETRY,
    script: [
      { steps: [{ toolCall: { name: 'write', arguments: { path: 'a', content: 'a' } } }, { cut: true }] },
      { text: 'fine' },
    ],
  });

  const records = await peer.run('go');

  expect(records.filter(({ type }) => type.startsWith('tool_execution'))).toEqual([]);
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'error' });
  expect((await peer.run('again')).at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('R22 R15', 'a failure after tools have run ends the run and keeps their results', async ({ open }) => {
  const { peer } = await open({
    settings: NO_RETRY,
    script: [
      { toolCall: { name: 'bash', arguments: { command: 'echo hi' } } },
      { error: { status: 503 } },
      { text: 'fine' },
    ],
  });

  await peer.run('go');

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'error', errorCode: 'overloaded' });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
});

verifies('R13 R22', 'a failed run leaves the queue unchanged', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    settings: NO_RETRY,
    script: [{ steps: [{ await: gate.path }, { error: { status: 500 } }] }, { text: 'one' }, { text: 'two' }],
  });
  await peer.ok({ type: 'prompt', message: 'first' });
  await peer.next('message_update');
  await peer.ok({ type: 'follow_up', message: 'later', clientMessageId: 'c1' });

  gate.open();

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'error', clientMessageIds: [] });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingMessageCount: 1 });
  await peer.run('go on');
  expect(userTexts(peer.records)).toEqual(['first', 'go on', 'later']);
  expect(assistantTexts(peer.records)).toEqual(['', 'one', 'two']);
});

verifies('R15 M11', 'an assistant message that ends at the length limit is not a failure', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [{ text: 'and so' }, { stop: 'length' }] }] });

  const records = await peer.run('go');

  expect(ofType(records, 'turn_end')[0]).toMatchObject({ message: { stopReason: 'length' } });
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
});

verifies('R9 R15 T14', 'a tool call that the length limit may have truncated is rejected', async ({ open }) => {
  const { peer } = await open({
    settings: NO_RETRY,
    script: [
      { steps: [{ toolCall: { name: 'write', arguments: { path: 'a', content: 'half' } } }, { stop: 'length' }] },
      { text: 'again then' },
    ],
  });

  const records = await peer.run('go');

  expect(ofType(records, 'turn_end')[0]).toMatchObject({
    toolResults: [
      {
        isError: true,
        content: [{ text: 'Not run: the answer was cut off by the length limit before the call was complete.' }],
      },
    ],
  });
  expect(ofType(records, 'tool_execution_end')).toMatchObject([{ isError: true }]);
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
});

verifies('R13 R22', 'a model that always fails still settles every run', async ({ open }) => {
  const { peer } = await open({ settings: NO_RETRY, script: [{ cut: true }, { repeat: true }] });

  for (let count = 0; count < 5; count++) expect((await peer.run('go')).at(-1)).toMatchObject({ outcome: 'error' });

  await waitUntilSettled(peer);
  expect(ofType(peer.records, 'agent_settled')).toHaveLength(5);
});
