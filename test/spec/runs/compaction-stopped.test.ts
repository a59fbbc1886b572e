import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  compactionEvents,
  FILLER,
  fastRetryHome,
  milestones,
  NEAR_CONTEXT_LIMIT,
  openAfterTwoTurns,
  textWithUsage,
} from '../../support/agent/compaction.ts';
import { neverReturns, openWithHooks } from '../../support/agent/hooked-agent.ts';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate, openTestAgent, type TestAgent } from '../../support/agent/test-agent.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

const files = ({ sessionFiles }: TestAgent) => sessionFiles().map((path) => readFileSync(path, 'utf8'));

/** A summary request whose model response never ends. */
const endlessSummary = { stall: true, when: '<conversation>' };

const cancelled = { type: 'compaction_end', result: null, aborted: true, willRetry: false };

verifies('K14 C17', 'abort overtakes a compaction, which leaves the session unchanged', async ({ open }) => {
  const agent = await openAfterTwoTurns(open, [
    { stall: true, when: 'Additional focus: nothing', keep: true },
    textWithUsage('three', 300),
    { text: 'short' },
  ]);
  const { peer } = agent;
  const before = files(agent);
  peer.send({ id: 'c', type: 'compact', customInstructions: 'nothing' });
  await peer.next('compaction_start');
  const start = peer.records.length;

  await peer.ok({ type: 'abort' });
  const response = await peer.find(({ id }) => id === 'c');

  expect(response).toMatchObject({ success: false, code: 'agent_busy', error: 'Compaction cancelled' });
  const [end] = peer.records.slice(start);
  expect(end).toEqual({ ...cancelled, reason: 'manual' });
  expect(files(agent)).toEqual(before);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isCompacting: false, messageCount: 4 });
  expect((await peer.run(`third ${FILLER}`)).at(-1)).toMatchObject({ outcome: 'ok' });
  expect(await peer.ok({ type: 'compact' })).toMatchObject({ summary: 'short' });
});

verifies('K14', 'abort ends the retry delay of a summary', async ({ open }) => {
  const home = fastRetryHome({ retry: { baseDelayMs: 1_000_000, maxDelayMs: 10_000_000 } });
  const { peer } = await openAfterTwoTurns(open, [{ error: { status: 529 } }], { home });
  peer.send({ id: 'c', type: 'compact' });
  await peer.next('compaction_start');

  await peer.ok({ type: 'abort' });

  expect(await peer.find(({ id }) => id === 'c')).toMatchObject({ success: false, error: 'Compaction cancelled' });
});

verifies('K14 C17', 'abort cancels a compaction that still waits for its run to stop', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [{ stall: true }, { text: 'never' }]);
  await peer.ok({ type: 'prompt', message: `third ${FILLER}` });
  await peer.next('agent_start');

  peer.send('{"id":"c","type":"compact"}\n{"id":"a","type":"abort"}\n');
  const response = await peer.find(({ id }) => id === 'c');
  await peer.find(({ id }) => id === 'a');

  expect(response).toMatchObject({ success: false, error: 'Compaction cancelled' });
});

verifies('K14 R13', 'abort stops an automatic compaction and its run', async ({ open }) => {
  const agent = await openAfterTwoTurns(open, [
    textWithUsage('three', NEAR_CONTEXT_LIMIT),
    endlessSummary,
    { text: 'four' },
  ]);
  const { peer } = agent;
  await peer.ok({ type: 'prompt', message: `third ${FILLER}` });
  await peer.next('compaction_start');
  const before = files(agent);

  await peer.ok({ type: 'abort' });

  expect(compactionEvents(peer.records).at(-1)).toEqual({ ...cancelled, reason: 'threshold' });
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted' });
  expect(files(agent)).toEqual(before);
  await peer.ok({ type: 'set_auto_compaction', enabled: false });
  expect(assistantTexts(await peer.run('fourth'))).toEqual(['four']);
});

verifies('K14', 'abort stops the compaction of an overflow', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [{ overflow: true }, endlessSummary, { text: 'fine' }]);
  await peer.ok({ type: 'prompt', message: 'third' });
  await peer.next('compaction_start');

  await peer.ok({ type: 'abort' });

  expect(compactionEvents(peer.records).at(-1)).toEqual({ ...cancelled, reason: 'overflow' });
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted', aborted: true });
  expect((await peer.run('fourth')).at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('K1 C19', 'a prompt sent during a compaction runs after it', async ({ open }) => {
  const gate = newGate();
  const { peer } = await openAfterTwoTurns(open, [
    { steps: [{ await: gate.path }, { text: 'short' }] },
    { text: 'three' },
  ]);
  peer.send({ id: 'c', type: 'compact' });
  await peer.next('compaction_start');
  const start = peer.records.length;
  peer.send({ id: 'p', type: 'prompt', message: 'third' });
  await peer.ok({ type: 'get_state' });

  gate.open();
  await peer.next('agent_settled');

  const records = peer.records.slice(start);
  expect(milestones(records)).toEqual([
    'compaction_end',
    'agent_start',
    'turn_start',
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
  const ids = records.flatMap(({ id }) => (id === 'c' || id === 'p' ? [id] : []));
  expect(ids).toEqual(['c', 'p']);
  expect(assistantTexts(records)).toEqual(['three']);
});

verifies('K14 P29', 'abort_and_prompt stops a compaction and runs its message', async ({ open }) => {
  const { peer } = await openAfterTwoTurns(open, [endlessSummary, { text: 'three' }]);
  peer.send({ id: 'c', type: 'compact' });
  await peer.next('compaction_start');

  await peer.ok({ type: 'abort_and_prompt', message: 'third' });
  await peer.next('agent_settled');

  expect(await peer.find(({ id }) => id === 'c')).toMatchObject({ success: false, error: 'Compaction cancelled' });
  expect(assistantTexts(peer.records).at(-1)).toBe('three');
});

verifies('K1 C19', 'new_session during a manual compaction waits for it', async ({ open }) => {
  const gate = newGate();
  const { peer } = await openAfterTwoTurns(open, [
    { steps: [{ await: gate.path }, { text: 'short' }] },
    { text: 'fresh' },
  ]);
  const { sessionFile } = await peer.ok({ type: 'get_state' });
  peer.send({ id: 'c', type: 'compact' });
  await peer.next('compaction_start');
  peer.send({ id: 'n', type: 'new_session' });
  await peer.ok({ type: 'get_state' });

  gate.open();
  await peer.find(({ id }) => id === 'n');

  expect(await peer.find(({ id }) => id === 'c')).toMatchObject({ success: true });
  expect(readFileSync(sessionFile, 'utf8')).toContain('"type":"compaction"');
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 0, isCompacting: false });
  expect(assistantTexts(await peer.run('hello'))).toHaveLength(1);
});

verifies(
  'K14',
  'new_session during an automatic compaction stops it',
  async ({ open }) => {
    const { peer } = await openAfterTwoTurns(open, [
      textWithUsage('three', NEAR_CONTEXT_LIMIT),
      endlessSummary,
      { text: 'fresh' },
    ]);
    await peer.ok({ type: 'prompt', message: `third ${FILLER}` });
    await peer.next('compaction_start');

    await peer.ok({ type: 'new_session' });

    expect(compactionEvents(peer.records).at(-1)).toEqual({ ...cancelled, reason: 'threshold' });
    expect(assistantTexts(await peer.run('hello'))).toEqual(['fresh']);
  },
  AGENT_SWITCHES_SESSION,
);

it('[K1] a session killed during a compaction reopens unchanged', async () => {
  const first = await openAfterTwoTurns((options) => openTestAgent('stdio', options), [{ stall: true }]);
  const before = files(first);
  first.peer.send({ type: 'compact' });
  await first.peer.next('compaction_start');

  first.process?.kill('SIGKILL');
  await first.process?.exited;
  const again = await openTestAgent('stdio', { home: first.home, args: ['--continue'], script: [{ text: 'short' }] });

  expect(await again.peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 4, isCompacting: false });
  expect(files(again)).toEqual(before);
  expect(await again.peer.ok({ type: 'compact' })).toMatchObject({ summary: 'short' });
});

it('[K1 Z28] a compaction running at end of input finishes and gets its response', async () => {
  const gate = newGate();
  const agent = await openAfterTwoTurns(
    (options) => openTestAgent('stdio', options),
    [{ steps: [{ await: gate.path }, { text: 'short' }] }],
  );
  agent.peer.send({ id: 'c', type: 'compact' });
  await agent.peer.next('compaction_start');

  agent.process?.endInput();
  gate.open();

  expect(await agent.process?.exited).toEqual({ code: 0, signal: null });
  expect(await agent.peer.find(({ id }) => id === 'c')).toMatchObject({ success: true, data: { summary: 'short' } });
  expect(files(agent).join()).toContain('"type":"compaction"');
});

it('[K14] with --on-eof abort, end of input stops a compaction', async () => {
  const script = [{ stall: true }];
  const agent = await openAfterTwoTurns((options) => openTestAgent('stdio', options), script, {
    args: ['--on-eof', 'abort'],
  });
  const before = files(agent);
  agent.peer.send({ id: 'c', type: 'compact' });
  await agent.peer.next('compaction_start');

  agent.process?.endInput();

  expect(await agent.process?.exited).toEqual({ code: 0, signal: null });
  expect(files(agent)).toEqual(before);
});

it('[K14] a beforeCompact hook that never returns does not delay an abort', async () => {
  const { called, wait } = neverReturns();
  const { client } = await openWithHooks({ beforeCompact: wait }, { answers: [{ text: 'one' }, { text: 'two' }] });
  for (const word of ['first', 'second']) await client.promptAndWait(`${word} ${'word '.repeat(40_000)}`);
  const compacted = client.compact().catch((error: Error) => error.message);
  await called;

  await client.abort();

  expect(await compacted).toContain('Compaction cancelled');
});
