import { expect } from 'vitest';
import { compactionEvents } from '../../support/agent/compaction.ts';
import { assistantTexts } from '../../support/agent/run-records.ts';
import { newHome, type OpenOptions, type TestAgent } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

type Open = (options?: OpenOptions) => Promise<TestAgent>;

/** Summaries have 50 tokens, all other responses one. */
const SCRIPT = [{ text: 'sum '.repeat(50), when: '<conversation>', keep: true }, { text: 'yes' }, { repeat: true }];

/** Texts of about this many tokens. */
const textOf = (tokens: number) => 'word '.repeat((tokens * 4) / 5);

/** Opens an agent with a system prompt of this size on the small window: 8,192 tokens, threshold 6,144. */
function openWithSystemPrompt(open: Open, tokens: number, options: OpenOptions = {}): Promise<TestAgent> {
  const args = ['--model', 'tau/scripted-small', '--system-prompt', textOf(tokens), '--no-tools'];
  return open({ script: SCRIPT, ...options, args: [...args, ...(options.args ?? [])] });
}

async function runPrompts({ peer }: TestAgent, count: number): Promise<WireRecord[][]> {
  const runs: WireRecord[][] = [];
  for (let at = 0; at < count; at++) runs.push(await peer.run(textOf(400)));
  return runs;
}

const compactionsPerRun = (runs: readonly (readonly WireRecord[])[]) =>
  runs.map((records) => compactionEvents(records).filter(({ type }) => type === 'compaction_end').length);

verifies('K17', 'a compaction that leaves the context over its threshold is not repeated at once', async ({ open }) => {
  const agent = await openWithSystemPrompt(open, 5900);

  const runs = await runPrompts(agent, 8);

  expect(compactionsPerRun(runs)).toEqual([0, 1, 0, 0, 0, 0, 1, 0]);
  expect(runs.flatMap((records) => records.at(-1)?.['outcome'])).toEqual(Array(8).fill('ok'));
  const notice = expect.stringContaining('more than 5120 of the 8192');
  const ends = agent.peer.records.filter(({ type }) => type.endsWith('compaction_end')).slice(0, 2);
  expect(ends).toMatchObject([
    { type: 'compaction_end', reason: 'threshold', aborted: false, notice },
    { type: 'auto_compaction_end', notice },
  ]);
});

const RESTART = 'the next agent of a session does not repeat a compaction that did not help';

const afterRestart: Parameters<typeof verifies>[2] = async ({ open }) => {
  const home = newHome();
  const first = await openWithSystemPrompt(open, 5900, { home });
  const before = await runPrompts(first, 2);
  await first.close();
  const second = await openWithSystemPrompt(open, 5900, { home, args: ['--continue'] });

  const after = await runPrompts(second, 2);

  expect(compactionsPerRun([...before, ...after])).toEqual([0, 1, 0, 0]);
};

verifies('K17', RESTART, afterRestart, LOCAL_TRANSPORTS);

verifies('K17', 'a compaction keeps less where the system prompt is long, and then helps', async ({ open }) => {
  const agent = await openWithSystemPrompt(open, 3000);

  const runs = await runPrompts(agent, 9);

  const ends = compactionEvents(runs.flat()).filter(({ type }) => type === 'compaction_end');
  expect(compactionsPerRun(runs)).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 0]);
  expect(ends.map(({ notice }) => notice)).toEqual([undefined]);
});

verifies('K18', 'a request that cannot fit ends the run with context_full, without a model call', async ({ open }) => {
  const { peer } = await openWithSystemPrompt(open, 8400, { script: [{ text: 'answered' }] });

  const records = await peer.run('first');
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted' });
  const next = await peer.run('second');

  expect(records.at(-1)).toMatchObject({
    outcome: 'error',
    errorCode: 'context_full',
    errorMessage: expect.stringContaining('scripted-small has 8192'),
  });
  expect(next.at(-1)).toMatchObject({ outcome: 'ok' });
  expect(assistantTexts(next)).toEqual(['answered']);
});
