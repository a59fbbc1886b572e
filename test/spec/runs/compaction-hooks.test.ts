import { expect, it } from 'vitest';
import { type Hooks, openWithHooks, neverReturns } from '../../support/agent/hooked-agent.ts';
import { FILLER, fastRetryHome } from '../../support/agent/compaction.ts';

/** An agent with these hooks that has talked twice; a compaction keeps the second turn. */
async function talkedWith(hooks: Hooks, answers: readonly object[] = []) {
  const { cwd, agentDir } = fastRetryHome({ compaction: { keepRecentTokens: 50, reserveTokens: 3000 } });
  const reading = { steps: [{ toolCall: { name: 'read', arguments: { path: 'a.txt' } } }] };
  const script = [reading, { text: 'one' }, { text: 'two' }, ...answers];
  const agent = await openWithHooks(hooks, { cwd, agentDir, answers: script });
  for (const word of ['first', 'second']) await agent.client.promptAndWait(`${word} ${FILLER}`);
  return agent;
}

it('[K16] beforeCompact sees what would be summed up, and afterCompact what came of it', async () => {
  const plans: Parameters<NonNullable<Hooks['beforeCompact']>>[0][] = [];
  const told: Parameters<NonNullable<Hooks['afterCompact']>>[0][] = [];
  const { client } = await talkedWith(
    {
      beforeCompact: async (plan) => {
        plans.push(plan);
        const { firstKeptEntryId, tokensBefore } = plan;
        return plans.length === 1 ? { summary: 'by hand', firstKeptEntryId, tokensBefore } : undefined;
      },
      afterCompact: async (done) => {
        told.push(done);
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
  expect(told).toMatchObject([
    { entry: { summary: 'by hand' }, fromHook: true, reason: 'manual', willRetry: false },
    { entry: { summary: 'by the model' }, fromHook: false, reason: 'manual', willRetry: false },
  ]);
});

it('[K16] compactFailed is told why there is no summary, after the clients', async () => {
  const told: unknown[] = [];
  let hear = () => {};
  const heard = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const { client } = await talkedWith(
    {
      beforeCompact: async ({ customInstructions }) => (customInstructions === 'no' ? { cancel: true } : undefined),
      compactFailed: async (failure) => {
        await heard;
        told.push(failure);
      },
    },
    [{ text: '' }],
  );
  client.onEvent(({ type }) => {
    if (type === 'compaction_end') hear();
  });

  const failed = await client.compact().catch(({ message }: Error) => message);
  const refused = await client.compact({ customInstructions: 'no' }).catch(({ message }: Error) => message);

  expect([failed, refused]).toEqual(['Summarization failed: The model wrote nothing', 'Compaction cancelled']);
  const common = { reason: 'manual', willRetry: false, fromHook: false };
  expect(told).toEqual([
    { ...common, aborted: false, errorMessage: 'Compaction failed: Summarization failed: The model wrote nothing' },
    { ...common, aborted: true },
  ]);
});

it('[K16] compactFailed is told of an abort; one that rejects changes nothing', async () => {
  const { called, wait } = neverReturns();
  const told: unknown[] = [];
  const { client } = await talkedWith({
    beforeCompact: wait,
    compactFailed: async (failure) => {
      told.push(failure);
      throw new Error('no');
    },
  });
  const compacted = client.compact().catch(({ message }: Error) => message);
  await called;

  await client.abort();

  expect(await compacted).toBe('Compaction cancelled');
  expect(told).toEqual([{ reason: 'manual', willRetry: false, fromHook: false, aborted: true }]);
  expect(await client.getState()).toMatchObject({ isCompacting: false });
});

it('[K16] compactFailed that never answers is left alone by an abort', async () => {
  const { called, wait } = neverReturns();
  const { client } = await talkedWith({ compactFailed: wait }, [{ text: '' }, { text: 'again' }]);
  const compacted = client.compact().catch(({ message }: Error) => message);
  await called;

  await client.abort();

  expect(await compacted).toBe('Summarization failed: The model wrote nothing');
  expect((await client.promptAndWait('go on')).settled).toMatchObject({ outcome: 'ok' });
});
