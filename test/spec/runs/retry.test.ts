import { expect, it } from 'vitest';
import { FILLER, fastRetryHome, milestones, openAfterTwoTurns, textWithUsage } from '../../support/agent/compaction.ts';
import { rolesOf } from '../../support/agent/hooked-agent.ts';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { openTestAgent, readSessionFile } from '../../support/agent/test-agent.ts';
import { outline, type WireRecord } from '../../support/clients/peer.ts';
import { completions } from '../../support/providers/completions.ts';
import { configureProviders, OWN_KEY, providerOf } from '../../support/providers/configured-providers.ts';
import { usage } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const busy = { error: { status: 529 } };

const ofType = (records: readonly WireRecord[], type: string) => records.filter((record) => record.type === type);

const failedAnswer = ['message_start', 'message_end'];

const goodAnswer = [
  'message_start',
  'message_update:start',
  'message_update:text_start',
  'message_update:text_delta',
  'message_update:text_end',
  'message_update:done',
  'message_end',
];

verifies('Y2 Y4 Y5 R12 R13', 'a busy provider is called again until it responds', async ({ open }) => {
  const { peer } = await open({ home: fastRetryHome(), script: [busy, { error: { status: 500 } }, { text: 'there' }] });

  const records = await peer.run('go');

  expect(outline(records)).toEqual([
    'response',
    'agent_start',
    'turn_start',
    'message_start',
    'message_end',
    ...failedAnswer,
    'turn_end',
    'agent_end',
    'auto_retry_start',
    'agent_start',
    'turn_start',
    ...failedAnswer,
    'turn_end',
    'agent_end',
    'auto_retry_start',
    'agent_start',
    'turn_start',
    ...goodAnswer,
    'auto_retry_end',
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
  expect(ofType(records, 'auto_retry_start')).toEqual([
    {
      type: 'auto_retry_start',
      attempt: 1,
      maxAttempts: 3,
      delayMs: expect.any(Number),
      errorMessage: '529 Overloaded',
    },
    {
      type: 'auto_retry_start',
      attempt: 2,
      maxAttempts: 3,
      delayMs: expect.any(Number),
      errorMessage: '500 Internal server error',
    },
  ]);
  expect(ofType(records, 'auto_retry_end')).toEqual([{ type: 'auto_retry_end', success: true, attempt: 2 }]);
  expect(ofType(records, 'agent_end')).toMatchObject([
    { willRetry: true, isTerminal: false, messages: [{ role: 'user' }, { stopReason: 'error' }] },
    { willRetry: true, isTerminal: false, messages: [{ stopReason: 'error' }] },
    { willRetry: false, isTerminal: true, messages: [{ stopReason: 'stop' }] },
  ]);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok', aborted: false });
  expect(records.at(-1)).not.toHaveProperty('errorMessage');
  await waitUntilSettled(peer);
});

verifies('Y2', 'a failed attempt stays in the file but not in the conversation', async ({ open }) => {
  const { peer, sessionFiles } = await open({
    home: fastRetryHome(),
    script: [{ steps: [{ text: 'half ' }, { cut: true }] }, { text: 'whole' }],
  });
  await peer.ok({ type: 'hello', entries: true });

  const records = await peer.run('go');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['user', 'assistant']);
  expect(messages[1]).toMatchObject({ content: [{ text: 'whole' }] });
  const page = await peer.ok({ type: 'get_messages_page' });
  expect(page).toMatchObject({ messages, totalMessages: 2 });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 2 });
  const [path = ''] = sessionFiles();
  const failed = readSessionFile(path).find(({ message }) => message?.stopReason === 'error');
  expect(failed).toMatchObject({ message: { content: [{ text: 'half ' }], errorMessage: 'terminated' } });
  const edit = { type: 'context_edit', targetId: failed.id, replacement: null };
  expect(readSessionFile(path)).toContainEqual(expect.objectContaining(edit));
  const after = records.slice(records.findIndex(({ type }) => type === 'auto_retry_start'));
  expect(after[1]).toMatchObject({ type: 'entry_appended', entry: edit });
});

verifies('Y5 Y6', 'a provider that stays busy fails the run with its error', async ({ open }) => {
  const { peer } = await open({ home: fastRetryHome(), script: [busy, busy, busy, busy, { text: 'fine' }] });

  const records = await peer.run('go');

  expect(ofType(records, 'auto_retry_start').map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(milestones(records).slice(-3)).toEqual(['agent_end', 'auto_retry_end', 'agent_settled']);
  expect(records.at(-2)).toEqual({
    type: 'auto_retry_end',
    success: false,
    attempt: 3,
    finalError: '529 Overloaded',
  });
  expect(records.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'overloaded', errorMessage: '529 Overloaded' });
  expect(ofType(records, 'agent_end').at(-1)).toMatchObject({ willRetry: false, isTerminal: true });
  await waitUntilSettled(peer);
  expect(assistantTexts(await peer.run('again'))).toEqual(['fine']);
});

verifies('Y2', 'the setting maxRetries limits the attempts', async ({ open }) => {
  const home = fastRetryHome({ retry: { maxRetries: 1, baseDelayMs: 1 } });
  const { peer } = await open({ home, script: [busy, busy, { text: 'never' }] });

  const records = await peer.run('go');

  expect(ofType(records, 'auto_retry_start')).toMatchObject([{ attempt: 1, maxAttempts: 1 }]);
  expect(records.at(-1)).toMatchObject({ outcome: 'error' });
});

it.each([
  ['an invalid request', { error: { status: 400, message: 'bad thing' } }],
  ['an invalid key', { error: { status: 401 } }],
  ['an exceeded quota', { error: { status: 429, message: 'You exceeded your current quota' } }],
])('[Y2] %s is not retried', async (_what, failure) => {
  const { peer } = await openTestAgent('memory', { home: fastRetryHome(), script: [failure, { text: 'never' }] });

  const records = await peer.run('go');

  expect(milestones(records)).toEqual(['agent_start', 'turn_start', 'turn_end', 'agent_end', 'agent_settled']);
  expect(ofType(records, 'agent_end')).toMatchObject([{ willRetry: false, isTerminal: true }]);
  expect(records.at(-1)).toMatchObject({ outcome: 'error' });
});

verifies('Y1', 'nothing is retried while retries are off', async ({ open }) => {
  const { peer } = await open({ home: fastRetryHome(), script: [busy, busy, { text: 'there' }] });
  await peer.ok({ type: 'set_auto_retry', enabled: false });
  const off = await peer.run('go');

  await peer.ok({ type: 'set_auto_retry', enabled: true });
  const on = await peer.run('go');

  expect(off.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'overloaded' });
  expect(off.filter(({ type }) => type.startsWith('auto_retry'))).toEqual([]);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'user', 'assistant']);
  expect(on.at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('Y1', 'settings can turn retries off', async ({ open }) => {
  const { peer } = await open({
    home: fastRetryHome({ retry: { enabled: false } }),
    script: [busy, { text: 'never' }],
  });

  expect((await peer.run('go')).at(-1)).toMatchObject({ outcome: 'error', errorCode: 'overloaded' });
});

verifies('Y4', 'the retry delay is the one that the provider requests', async ({ open }) => {
  const { peer } = await open({
    home: fastRetryHome(),
    script: [{ error: { status: 429, retryAfterMs: 30 } }, { text: 'there' }],
  });

  const records = await peer.run('go');

  expect(ofType(records, 'auto_retry_start')).toMatchObject([{ delayMs: 30 }]);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('Y2 Y6', 'a requested retry delay above the limit fails the run', async ({ open }) => {
  const longDelay = { error: { status: 429, retryAfterMs: 3_600_000 } };
  const { peer } = await open({ home: fastRetryHome(), script: [longDelay, busy, longDelay, { text: 'never' }] });

  const first = await peer.run('go');
  const second = await peer.run('again');

  const errorMessage = '429 Too many requests (the server requires a retry delay of 3600 s, more than 60 s)';
  expect(first.filter(({ type }) => type.startsWith('auto_retry'))).toEqual([]);
  expect(first.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'rate_limited', errorMessage });
  expect(ofType(second, 'auto_retry_end')).toMatchObject([{ success: false, attempt: 1, finalError: errorMessage }]);
  expect(second.at(-1)).toMatchObject({ outcome: 'error', errorMessage });
});

verifies('Y5', 'a successful model response resets the attempt count, also within a run', async ({ open }) => {
  const home = fastRetryHome({ retry: { maxRetries: 1, baseDelayMs: 1 } });
  const call = { toolCall: { name: 'bash', arguments: { command: 'true' } } };
  const { peer } = await open({ home, script: [busy, call, busy, { text: 'done' }] });

  const records = await peer.run('go');

  expect(records.filter(({ type }) => type.startsWith('auto_retry'))).toMatchObject([
    { attempt: 1 },
    { success: true, attempt: 1 },
    { attempt: 1 },
    { success: true, attempt: 1 },
  ]);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
});

verifies('P46', 'every attempt counts against the limits of the run', async ({ open }) => {
  const { peer } = await open({ home: fastRetryHome(), script: [busy, busy, { text: 'never' }] });

  const records = await peer.run({ message: 'go', limits: { turns: 2 } });

  expect(milestones(records).slice(-3)).toEqual(['agent_end', 'auto_retry_end', 'agent_settled']);
  expect(records.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'overloaded' });
});

verifies('P46 Y5', 'a time limit that expires during a retry delay ends the retry and the run', async ({ open }) => {
  const home = fastRetryHome({ retry: { baseDelayMs: 1500 } });
  const { peer } = await open({ home, script: [busy, { text: 'never' }] });

  const records = await peer.run({ message: 'go', limits: { wallMs: 1000 } });

  expect(ofType(records, 'auto_retry_end')).toMatchObject([{ success: false, attempt: 1 }]);
  expect(records.at(-1)).toMatchObject({ outcome: 'budget' });
  expect(assistantTexts(records)).not.toContain('never');
});

verifies('G24', 'token usage of failed attempts counts', async ({ open }) => {
  const { peer } = await open({
    home: fastRetryHome(),
    script: [
      { steps: [{ usage: { input: 70, output: 3 } }, { text: 'x' }, { cut: true }] },
      textWithUsage('there', 100),
    ],
  });
  await peer.run('go');

  const stats = await peer.ok({ type: 'get_session_stats' });

  expect(stats.tokens).toMatchObject({ input: 170, output: 13 });
  expect(stats.contextUsage).toMatchObject({ tokens: usage(100, 10).totalTokens });
});

verifies('Y2 K13', 'one run recovers from a busy provider and an overflow', async ({ open }) => {
  const script = [busy, { overflow: true }, busy, { text: 'short' }, busy, { text: 'there' }];
  const { peer } = await openAfterTwoTurns(open, script);

  const records = await peer.run(`third ${FILLER}`);

  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
  expect(assistantTexts(records).at(-1)).toBe('there');
  expect(userTexts(records)).toEqual([`third ${FILLER}`]);
  await waitUntilSettled(peer);
});

it('[Y7 Y6] a provider that does not start or stops mid-stream times out, is retried, then fails the run', async () => {
  const settings = { retry: { baseDelayMs: 1, maxRetries: 2 }, stall: { firstByteMs: 150, betweenMs: 100 } };
  const { home, doubles } = await configureProviders([completions], { settings });
  const silent = { text: 'never heard', stallAfter: 0 };
  doubles[0]?.respondWith(silent, { text: 'half', stallAfter: 2 }, silent);
  const args = ['--model', `${providerOf(completions)}/m`];
  const { peer } = await openTestAgent('stdio', { home, env: OWN_KEY, args });

  const records = await peer.run('go');

  const late = 'The model did not begin to answer within 150 ms';
  expect(ofType(records, 'auto_retry_start')).toMatchObject([
    { attempt: 1, errorMessage: late },
    { attempt: 2, errorMessage: 'The model stopped in the middle of its answer and did not continue within 100 ms' },
  ]);
  expect(ofType(records, 'auto_retry_end')).toMatchObject([{ success: false, attempt: 2, finalError: late }]);
  expect(records.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'stalled', errorMessage: late });
});
