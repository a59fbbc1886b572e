import { expect } from 'vitest';
import {
  compactionEvents,
  FILLER,
  fastRetryHome,
  milestones,
  NEAR_CONTEXT_LIMIT,
  openAfterTwoTurns,
  textWithUsage,
} from '../../support/agent/compaction.ts';
import { rolesOf } from '../../support/agent/hooked-agent.ts';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const ofType = (records: readonly WireRecord[], type: string) => records.filter((record) => record.type === type);

verifies('K7 K9 K12 R13', 'a nearly full context is compacted after the run', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    textWithUsage('three', NEAR_CONTEXT_LIMIT),
    textWithUsage('short', 500),
    textWithUsage('four', 100),
  ]);

  const records = await peer.run(`third ${FILLER}`);

  expect(milestones(records).slice(-5)).toEqual([
    'turn_end',
    'agent_end',
    'compaction_start',
    'compaction_end',
    'agent_settled',
  ]);
  expect(compactionEvents(records)).toMatchObject([
    { reason: 'threshold' },
    {
      reason: 'threshold',
      aborted: false,
      willRetry: false,
      result: { summary: 'short', tokensBefore: NEAR_CONTEXT_LIMIT + 10 },
    },
  ]);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
  expect(ofType(await peer.run('fourth'), 'compaction_start')).toEqual([]);
  await waitUntilSettled(peer);
});

verifies('K7', 'a context below the threshold is not compacted', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [textWithUsage('three', 183_606), { text: 'never' }]);

  expect(compactionEvents(await peer.run(`third ${FILLER}`))).toEqual([]);
});

verifies('K6', 'nothing is compacted automatically while auto-compaction is off', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    textWithUsage('three', NEAR_CONTEXT_LIMIT),
    { overflow: true },
    { text: 'short' },
  ]);
  await peer.ok({ type: 'set_auto_compaction', enabled: false });

  const full = await peer.run(`third ${FILLER}`);
  const over = await peer.run(`fourth ${FILLER}`);

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ autoCompactionEnabled: false });
  expect(compactionEvents([...full, ...over])).toEqual([]);
  expect(over.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'context_overflow' });
  expect(await peer.ok({ type: 'compact' })).toMatchObject({ summary: 'short' });
});

verifies('K6', 'settings can turn auto-compaction off, and a client can turn it on again', async ({ open }) => {
  const home = fastRetryHome({ compaction: { enabled: false, keepRecentTokens: 50 } });
  const { peer } = await openAfterTwoTurns(
    open,
    [textWithUsage('three', NEAR_CONTEXT_LIMIT), { text: 'short' }, { text: 'four' }],
    { home },
  );
  expect(compactionEvents(await peer.run(`third ${FILLER}`))).toEqual([]);

  await peer.ok({ type: 'set_auto_compaction', enabled: true });

  expect(compactionEvents(await peer.run('fourth'))).toMatchObject([{ reason: 'threshold' }, { reason: 'threshold' }]);
});

verifies('K7', 'a conversation too long for a smaller model is compacted before the call', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    textWithUsage('three', 7000),
    { text: 'short' },
    textWithUsage('four', 90),
  ]);
  await peer.run(`third ${FILLER}`);
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-small' });

  const records = await peer.run('fourth');

  expect(milestones(records)).toEqual([
    'compaction_start',
    'compaction_end',
    'agent_start',
    'turn_start',
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
  expect(assistantTexts(records)).toEqual(['four']);
  expect((await peer.ok({ type: 'get_session_stats' })).contextUsage).toMatchObject({ tokens: 100 });
});

const work = (input: number) => ({
  steps: [{ toolCall: { name: 'bash', arguments: { command: 'seq 1 200' } } }, { usage: { input, output: 10 } }],
});

verifies('K7', 'a long run is compacted between its turns', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    work(NEAR_CONTEXT_LIMIT),
    { text: 'short', when: 'Use exactly these sections' },
    { text: 'the begun', when: '## Original Request' },
    work(500),
    textWithUsage('done', 600),
  ]);

  const records = await peer.run('work');

  expect(milestones(records)).toEqual([
    'agent_start',
    'turn_start',
    'turn_end',
    'compaction_start',
    'compaction_end',
    'turn_start',
    'turn_end',
    'turn_start',
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
  const { messages } = await peer.ok({ type: 'get_messages' });
  const [, first] = rolesOf(messages);
  expect(first).not.toBe('toolResult');
  await waitUntilSettled(peer);
});

verifies('K7 K15', 'a failed automatic compaction does not fail the run and is not retried in it', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    textWithUsage('three', NEAR_CONTEXT_LIMIT - 1000),
    { error: { status: 400, message: 'No' }, when: '<conversation>', keep: true },
    work(NEAR_CONTEXT_LIMIT),
    work(NEAR_CONTEXT_LIMIT),
    { text: 'done' },
  ]);
  await peer.run(`third ${FILLER}`);

  const records = await peer.run('work');

  expect(compactionEvents(records)).toMatchObject([
    { type: 'compaction_start' },
    { result: null, aborted: false, errorMessage: 'Auto-compaction failed: Summarization failed: 400 No' },
  ]);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('K9 K11 K12 K13 R12', 'an overflow is compacted, and the model is called again', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    { overflow: true },
    textWithUsage('short', 500),
    textWithUsage('there', 100),
  ]);

  const records = await peer.run('third');

  expect(milestones(records)).toEqual([
    'agent_start',
    'turn_start',
    'turn_end',
    'agent_end',
    'compaction_start',
    'compaction_end',
    'agent_start',
    'turn_start',
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
  expect(compactionEvents(records)).toMatchObject([
    { reason: 'overflow' },
    { reason: 'overflow', aborted: false, willRetry: true, result: { summary: 'short' } },
  ]);
  expect(ofType(records, 'auto_compaction_start')).toMatchObject([{ reason: 'overflow' }]);
  expect(ofType(records, 'agent_end')).toMatchObject([
    { willRetry: false, isTerminal: false },
    { willRetry: false, isTerminal: true },
  ]);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['compactionSummary', 'user', 'assistant', 'user', 'assistant']);
  expect(JSON.stringify(messages)).not.toContain('prompt is too long');
  await waitUntilSettled(peer);
});

verifies('K13 K15', 'a second overflow in the same run is not retried; one in the next run is', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    { overflow: true },
    { text: 'short' },
    { overflow: true },
    { overflow: true },
    { text: 'shorter' },
    { text: 'there' },
  ]);

  const records = await peer.run(`third ${FILLER}`);
  const next = await peer.run(`fourth ${FILLER}`);

  expect(compactionEvents(records)).toMatchObject([
    { type: 'compaction_start', reason: 'overflow' },
    { type: 'compaction_end', willRetry: true },
    {
      type: 'compaction_end',
      reason: 'overflow',
      result: null,
      aborted: false,
      willRetry: false,
      errorMessage:
        'Context overflow recovery failed after one compact-and-retry attempt. Try reducing context or switching to a larger-context model.',
    },
  ]);
  expect(milestones(records).slice(-3)).toEqual(['agent_end', 'compaction_end', 'agent_settled']);
  expect(records.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'context_overflow' });
  expect(next.at(-1)).toMatchObject({ outcome: 'ok' });
  await waitUntilSettled(peer);
});

verifies('K13', 'an overflow that cannot be compacted fails the run with context_overflow', async ({ open }) => {
  const { peer } = await open({ home: fastRetryHome(), script: [{ overflow: true }, { text: 'never' }] });

  const records = await peer.run(`only ${FILLER}`);

  expect(compactionEvents(records)).toEqual([]);
  expect(records.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'context_overflow' });
});

verifies('K13 K15', 'an overflow whose summary fails ends the run with context_overflow', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [{ overflow: true }, { error: { status: 400, message: 'No' } }]);

  const records = await peer.run('third');

  expect(compactionEvents(records).at(-1)).toMatchObject({
    willRetry: false,
    errorMessage: 'Context overflow recovery failed: Summarization failed: 400 No',
  });
  expect(records.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'context_overflow' });
});

verifies('K10 K11 K12', 'automatic compactions are also sent under their legacy event names', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    textWithUsage('three', NEAR_CONTEXT_LIMIT),
    { text: 'short' },
    { text: 'again' },
  ]);

  const records = await peer.run(`third ${FILLER}`);

  const events = records.filter(({ type }) => type.includes('compaction'));
  const end = { result: { summary: 'short' }, aborted: false, willRetry: false };
  expect(events).toMatchObject([
    { type: 'compaction_start', reason: 'threshold' },
    { type: 'auto_compaction_start', reason: 'threshold' },
    { type: 'compaction_end', reason: 'threshold', ...end },
    { type: 'auto_compaction_end', ...end },
  ]);
  expect(events[3]).not.toHaveProperty('reason');
});

verifies('I10 K10', 'legacyNames:false turns legacy compaction events off; manual ones have none', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [
    textWithUsage('three', NEAR_CONTEXT_LIMIT),
    { text: 'short' },
    textWithUsage('four', 9),
    { text: 'x' },
  ]);
  await peer.ok({ type: 'hello', legacyNames: false });

  await peer.run(`third ${FILLER}`);
  await peer.ok({ type: 'hello', legacyNames: true });
  await peer.run(`fourth ${FILLER}`);
  await peer.ok({ type: 'compact' });

  expect(compactionEvents(peer.records)).toHaveLength(4);
  expect(peer.records.filter(({ type }) => type.startsWith('auto_compaction'))).toEqual([]);
});

verifies(
  'K8 I12',
  'state and heartbeat report a compacting run, and the run serves messages steered meanwhile',
  async ({ open }) => {
    const gate = newGate();
    const { peer } = await openAfterTwoTurns(open, [
      textWithUsage('three', NEAR_CONTEXT_LIMIT),
      { steps: [{ await: gate.path }, { text: 'short' }] },
      { text: 'four' },
    ]);
    await peer.ok({ type: 'hello', heartbeatMs: 1 });
    const { runId } = await peer.ok({ type: 'prompt', message: `third ${FILLER}` });
    await peer.next('compaction_start');

    const beat = await peer.next('heartbeat');
    const during = await peer.ok({ type: 'get_state' });
    await peer.ok({ type: 'steer', message: 'also this' });
    gate.open();
    await peer.next('agent_settled');
    await peer.ok({ type: 'hello', heartbeatMs: 0 });

    expect(beat).toMatchObject({ runId, blockedOn: { kind: 'compaction', elapsedMs: expect.any(Number) } });
    expect(during).toMatchObject({ isCompacting: true, isStreaming: true, runId });
    expect(userTexts(peer.records).at(-1)).toBe('also this');
    expect(assistantTexts(peer.records).at(-1)).toBe('four');
  },
);

verifies('P46 P49', 'token usage of compactions counts against the limits of the run', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [{ overflow: true }, textWithUsage('short', 500), { text: 'never' }]);

  const records = await peer.run({ message: 'third', limits: { tokens: 400 } });

  expect(records.at(-1)).toMatchObject({ outcome: 'budget', errorMessage: 'The run has used up its tokens (400)' });
});

verifies('P46 K7', 'a run that has reached its limits is not compacted', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [textWithUsage('three', NEAR_CONTEXT_LIMIT), { text: 'never' }]);

  const records = await peer.run({ message: `third ${FILLER}`, limits: { tokens: 1000 } });

  expect(compactionEvents(records)).toEqual([]);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
});
