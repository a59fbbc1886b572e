import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { fastRetryHome } from '../../support/agent/compaction.ts';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { AGENT_SWITCHES_SESSION, type AgentFixture, verifies } from '../../support/verifies.ts';

const busy = { error: { status: 529 } };

/** Opens an agent whose run is in a retry delay longer than any test; `script` holds the model responses after it. */
async function openInRetryDelay(open: AgentFixture['open'], script: readonly object[] = []) {
  const home = fastRetryHome({ retry: { baseDelayMs: 10_000_000, maxDelayMs: 100_000_000 } });
  const agent = await open({ home, script: [busy, ...script] });
  const { runId } = await agent.peer.ok({ type: 'prompt', message: 'go', clientMessageId: 'c1' });
  await agent.peer.next('auto_retry_start');
  return { ...agent, runId };
}

const retryEnds = (records: readonly WireRecord[]) => records.filter(({ type }) => type === 'auto_retry_end');

const cancelled = { type: 'auto_retry_end', success: false, attempt: 1, finalError: 'Retry cancelled' };

verifies('Y3 Y5 R13', 'abort_retry ends the retry delay, and the run fails without being aborted', async ({ open }) => {
  const { peer, runId } = await openInRetryDelay(open, [{ text: 'fine' }]);
  const start = peer.records.length;

  await peer.ok({ type: 'abort_retry' });
  await peer.next('agent_settled');

  const events = peer.records.slice(start).filter(({ type }) => type !== 'response');
  expect(events).toMatchObject([
    cancelled,
    { type: 'agent_settled', runId, aborted: false, outcome: 'error', errorCode: 'overloaded' },
  ]);
  await waitUntilSettled(peer);
  expect(assistantTexts(await peer.run('again'))).toEqual(['fine']);
});

verifies('Y3', 'abort_retry without a waiting retry succeeds and publishes no event', async ({ open }) => {
  const { peer } = await open({ home: fastRetryHome(), script: [{ stall: true }] });
  await peer.ok({ type: 'abort_retry' });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');
  const start = peer.records.length;

  await peer.ok({ type: 'abort_retry' });

  expect(peer.records.slice(start).filter(({ type }) => type !== 'message_update')).toHaveLength(1);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true });
});

verifies('C22 Y3', 'abort_retry overtakes waiting commands', async ({ open }) => {
  const { peer } = await openInRetryDelay(open, [{ text: 'fine' }]);

  peer.send('{"id":"slow","type":"compact"}\n{"id":"retry","type":"abort_retry"}\n');
  await peer.find(({ id }) => id === 'slow');

  const order = peer.records.flatMap(({ id }) => (id === 'slow' || id === 'retry' ? [id] : []));
  expect(order).toEqual(['retry', 'slow']);
});

verifies('Y5 P29 R15', 'abort ends the retry delay and aborts the run', async ({ open }) => {
  const { peer, runId } = await openInRetryDelay(open, [{ text: 'fine' }]);
  const start = peer.records.length;

  await peer.ok({ type: 'abort' });

  expect(peer.records.slice(start)).toMatchObject([
    cancelled,
    { type: 'agent_settled', runId, aborted: true, outcome: 'aborted' },
    { type: 'response', command: 'abort' },
  ]);
  await waitUntilSettled(peer);
  expect(assistantTexts(await peer.run('again'))).toEqual(['fine']);
});

verifies('Y5 P29', 'abort during a retry ends the retry and the run', async ({ open }) => {
  const { peer } = await open({
    home: fastRetryHome(),
    script: [busy, { steps: [{ text: 'half ' }, { stall: true }] }],
  });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('auto_retry_start');
  await peer.next((record) => record.type === 'message_update' && JSON.stringify(record).includes('half'));

  await peer.ok({ type: 'abort' });

  expect(retryEnds(peer.records)).toEqual([cancelled]);
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted' });
});

verifies('Y4 I12', 'state and heartbeat report a run in its retry delay as running', async ({ open }) => {
  const { peer, runId } = await openInRetryDelay(open);
  await peer.ok({ type: 'hello', heartbeatMs: 1 });

  const state = await peer.ok({ type: 'get_state' });
  const beat = await peer.next('heartbeat');

  expect(state).toMatchObject({ isStreaming: true, isIdle: false, isCompacting: false, runId, messageCount: 1 });
  expect(beat).toMatchObject({ runId, blockedOn: { kind: 'retry', elapsedMs: expect.any(Number) } });
  expect(await peer.refused({ type: 'prompt', message: 'more' })).toMatchObject({ code: 'agent_busy' });
});

verifies('Y2 Q1', 'messages steered during a retry delay reach the next attempt', async ({ open }) => {
  const home = fastRetryHome({ retry: { baseDelayMs: 300 } });
  const { peer } = await open({ home, script: [busy, { text: 'there' }, { text: 'followed' }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('auto_retry_start');

  await peer.ok({ type: 'steer', message: 'also this' });
  await peer.ok({ type: 'follow_up', message: 'and then' });
  await peer.next('agent_settled');

  expect(userTexts(peer.records)).toEqual(['go', 'also this', 'and then']);
  const texts = assistantTexts(peer.records);
  expect(texts).toEqual(['', 'there', 'followed']);
  await waitUntilSettled(peer);
});

verifies('Y1', 'turning retries off lets the waiting retry run as the last one', async ({ open }) => {
  const home = fastRetryHome({ retry: { baseDelayMs: 300 } });
  const { peer } = await open({ home, script: [busy, busy, { text: 'never' }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('auto_retry_start');

  await peer.ok({ type: 'set_auto_retry', enabled: false });
  await peer.next('agent_settled');

  expect(retryEnds(peer.records)).toEqual([{ ...cancelled, finalError: '529 Overloaded' }]);
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'error' });
});

verifies('Y3 P32', 'messages queued for a cancelled retry stay queued', async ({ open }) => {
  const { peer } = await openInRetryDelay(open);
  await peer.ok({ type: 'steer', message: 'later' });

  await peer.ok({ type: 'abort_retry' });
  await peer.next('agent_settled');

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingMessageCount: 1 });
});

verifies(
  'Y5',
  'new_session ends the retry delay',
  async ({ open }) => {
    const { peer } = await openInRetryDelay(open, [{ text: 'fresh' }]);

    await peer.ok({ type: 'new_session' });

    expect(retryEnds(peer.records)).toEqual([cancelled]);
    expect(assistantTexts(await peer.run('hello'))).toEqual(['fresh']);
  },
  AGENT_SWITCHES_SESSION,
);

verifies(
  'Y2 J18',
  'a session killed during a retry delay keeps the message and continues',
  async ({ open }) => {
    const { peer, home, process, sessionFiles } = await openInRetryDelay(open);
    await peer.ok({ type: 'get_state' });

    process?.kill('SIGKILL');
    await process?.exited;
    const again = await open({ home, args: ['--continue'], script: [{ text: 'there' }] });

    expect(
      sessionFiles()
        .map((path) => readFileSync(path, 'utf8'))
        .join(),
    ).toContain('"clientMessageId":"c1"');
    expect(assistantTexts(await again.peer.run('still?'))).toEqual(['there']);
  },
  ['stdio', 'unix'],
);
