import { expect, it } from 'vitest';
import { FILLER, fastRetryHome } from '../../support/agent/compaction.ts';
import { type Hooks, neverReturns, openWithHooks } from '../../support/agent/hooked-agent.ts';

/** Opens an agent with these hooks after two turns; a compaction keeps the second turn. */
async function openAfterTwoTurns(hooks: Hooks, answers: readonly object[] = []) {
  const { cwd, agentDir } = fastRetryHome({ compaction: { keepRecentTokens: 50, reserveTokens: 3000 } });
  const reading = { steps: [{ toolCall: { name: 'read', arguments: { path: 'a.txt' } } }] };
  const script = [reading, { text: 'one' }, { text: 'two' }, ...answers];
  const agent = await openWithHooks(hooks, { cwd, agentDir, answers: script });
  for (const word of ['first', 'second']) await agent.client.promptAndWait(`${word} ${FILLER}`);
  return agent;
}

it('[K16] beforeCompact gets the plan of the compaction, and afterCompact its result', async () => {
  const plans: Parameters<NonNullable<Hooks['beforeCompact']>>[0][] = [];
  const received: Parameters<NonNullable<Hooks['afterCompact']>>[0][] = [];
  const { client } = await openAfterTwoTurns(
    {
      beforeCompact: async (plan) => {
        plans.push(plan);
        const { firstKeptEntryId, tokensBefore } = plan;
        return plans.length === 1 ? { summary: 'by hand', firstKeptEntryId, tokensBefore } : undefined;
      },
      afterCompact: async (done) => {
        received.push(done);
      },
    },
    [{ text: 'three' }, { text: 'by the model' }],
  );

  await client.compact({ customInstructions: 'Be brief' });
  await client.promptAndWait(`third ${FILLER}`);
  await client.compact();

  const [first, second] = plans;
  expect(first?.messagesToSummarize.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
  expect(first).toMatchObject({
    reason: 'manual',
    willRetry: false,
    turnPrefixMessages: [],
    isSplitTurn: false,
    previousSummary: undefined,
    fileOps: { read: new Set(['a.txt']), written: new Set(), edited: new Set() },
    settings: { enabled: true, reserveTokens: 3000, keepRecentTokens: 50 },
    customInstructions: 'Be brief',
  });
  expect(second).toMatchObject({ previousSummary: 'by hand', fileOps: { read: new Set() } });
  expect(received).toMatchObject([
    { entry: { summary: 'by hand' }, fromHook: true, reason: 'manual', willRetry: false },
    { entry: { summary: 'by the model' }, fromHook: false, reason: 'manual', willRetry: false },
  ]);
});

it('[K16] compactFailed gets the reason after clients have received compaction_end', async () => {
  const received: unknown[] = [];
  let onCompactionEnd = () => {};
  const compactionEnded = new Promise<void>((resolve) => {
    onCompactionEnd = resolve;
  });
  const { client } = await openAfterTwoTurns(
    {
      beforeCompact: async ({ customInstructions }) => (customInstructions === 'no' ? { cancel: true } : undefined),
      compactFailed: async (failure) => {
        await compactionEnded;
        received.push(failure);
      },
    },
    [{ text: '' }],
  );
  client.onEvent(({ type }) => {
    if (type === 'compaction_end') onCompactionEnd();
  });

  const failed = await client.compact().catch(({ message }: Error) => message);
  const refused = await client.compact({ customInstructions: 'no' }).catch(({ message }: Error) => message);

  expect([failed, refused]).toEqual(['Summarization failed: The model wrote nothing', 'Compaction cancelled']);
  const common = { reason: 'manual', willRetry: false, fromHook: false };
  expect(received).toEqual([
    { ...common, aborted: false, errorMessage: 'Compaction failed: Summarization failed: The model wrote nothing' },
    { ...common, aborted: true },
  ]);
});

it('[K16] compactFailed is called on an abort, and its own rejection changes nothing', async () => {
  const { called, wait } = neverReturns();
  const received: unknown[] = [];
  const { client } = await openAfterTwoTurns({
    beforeCompact: wait,
    compactFailed: async (failure) => {
      received.push(failure);
      throw new Error('no');
    },
  });
  const compacted = client.compact().catch(({ message }: Error) => message);
  await called;

  await client.abort();

  expect(await compacted).toBe('Compaction cancelled');
  expect(received).toEqual([{ reason: 'manual', willRetry: false, fromHook: false, aborted: true }]);
  expect(await client.getState()).toMatchObject({ isCompacting: false });
});

it('[K16] a compactFailed hook that never returns does not delay an abort', async () => {
  const { called, wait } = neverReturns();
  const { client } = await openAfterTwoTurns({ compactFailed: wait }, [{ text: '' }, { text: 'again' }]);
  const compacted = client.compact().catch(({ message }: Error) => message);
  await called;

  await client.abort();

  expect(await compacted).toBe('Summarization failed: The model wrote nothing');
  expect((await client.promptAndWait('go on')).settled).toMatchObject({ outcome: 'ok' });
});
