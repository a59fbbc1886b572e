import { expect } from 'vitest';
import { compactionEvents } from '../../support/agent/compaction.ts';
import { newGate, type OpenOptions, type TestAgent } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { completions } from '../../support/providers/completions.ts';
import { configureProviders, OWN_KEY, providerOf } from '../../support/providers/configured-providers.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const WINDOW = 32_000;

interface CountingProvider {
  /** Tokens of a request body, by this provider's tokenizer. */
  readonly count: (text: string) => number;
  /** Calls `bash` in this many turns of a run before it answers. */
  readonly toolTurns?: number;
}

/** Opens an agent on a provider that counts tokens in its own way and rejects what exceeds its window. */
async function openOnCounting(
  open: (options?: OpenOptions) => Promise<TestAgent>,
  { count, toolTurns = 0 }: CountingProvider,
) {
  const { home, doubles } = await configureProviders([completions], {
    model: { contextWindow: WINDOW, reasoning: false },
  });
  const [double] = doubles;
  if (!double) throw new Error('There is no provider');
  const sizes: number[] = [];
  let turns = 0;
  double.respondBy(({ body }) => {
    const tokens = count(JSON.stringify(body.messages));
    if (tokens > WINDOW) {
      const message = `This model's maximum context length is ${WINDOW} tokens. Your messages resulted in ${tokens} tokens.`;
      return { status: 400, message };
    }
    const usage = { input: tokens, output: 10 };
    if (!body.tools) return { text: 'a summary', usage };
    sizes.push(tokens);
    const isCall = turns++ % (toolTurns + 1) < toolTurns;
    const call = { id: `c${turns}`, name: 'bash', arguments: { command: 'head -c 6000 /dev/zero | tr "\\0" a' } };
    return isCall ? { calls: [call], usage } : { text: 'answer', usage };
  });
  const { peer } = await open({ home, env: OWN_KEY, args: ['--model', `${providerOf(completions)}/m`] });
  return { peer, sizes };
}

const outcomes = (runs: readonly (readonly WireRecord[])[]) => runs.map((records) => records.at(-1)?.['outcome']);

const CHINESE = '敏捷的棕色狐狸跳过了懒狗。'.repeat(400).slice(0, 4000);

verifies(
  'K21',
  'a provider that counts four times the estimate is served without end',
  async ({ open }) => {
    const { peer } = await openOnCounting(open, { count: (text) => Buffer.byteLength(text) });

    const runs: WireRecord[][] = [];
    for (let at = 0; at < 6; at++) runs.push(await peer.run('word '.repeat(1000)));
    for (let at = 0; at < 6; at++) runs.push(await peer.run(CHINESE.slice(0, 1500)));
    runs.push(await peer.run('hi'));

    expect(outcomes(runs)).toEqual(Array(13).fill('ok'));
    expect(compactionEvents(runs.flat()).map(({ reason }) => reason)).toContain('threshold');
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'K22',
  'a message that the provider rejects is shortened until it fits',
  async ({ open }) => {
    const { peer, sizes } = await openOnCounting(open, { count: (text) => Buffer.byteLength(text) });

    const runs = [await peer.run('word '.repeat(12_000)), await peer.run('hi')];

    expect(outcomes(runs)).toEqual(['ok', 'ok']);
    expect(sizes.every((tokens) => tokens <= WINDOW)).toBe(true);
    expect(runs[0]?.filter(({ type }) => type === 'auto_retry_start').length).toBeGreaterThan(0);
    expect(runs[0]?.filter(({ type }) => type === 'auto_retry_end')).toMatchObject([{ success: true }]);
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'K23',
  'after a compaction that did not help another one is made only when the next request does not fit',
  async ({ open }) => {
    const count = (text: string) => 20_000 + Math.ceil(text.length / 4);
    const { peer } = await openOnCounting(open, { count, toolTurns: 12 });

    const runs = [await peer.run('go'), await peer.run('go')];

    expect(outcomes(runs)).toEqual(['ok', 'ok']);
    const ends = compactionEvents(runs.flat()).filter(({ type }) => type === 'compaction_end');
    expect(ends).toMatchObject([
      { reason: 'threshold', notice: expect.stringContaining(`of the ${WINDOW}`) },
      { reason: 'overflow', willRetry: true },
    ]);
  },
  LOCAL_TRANSPORTS,
);

verifies('K24', 'compact does not stop a run when there is nothing to compact', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ text: 'be' }, { await: gate.path }, { text: 'gun' }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  const response = await peer.refused({ type: 'compact' });
  gate.open();
  const settled = await peer.next('agent_settled');

  expect(response).toMatchObject({ code: 'not_found', error: 'Nothing to compact (session too small)' });
  expect(settled).toMatchObject({ outcome: 'ok', aborted: false });
  expect(compactionEvents(peer.records)).toEqual([]);
});
