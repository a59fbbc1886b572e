import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { openEngine } from '../../../src/engine/open.ts';
import { openModels } from '../../../src/engine/open-models.ts';
import { Project } from '../../../src/engine/project.ts';
import { parseScript } from '../../../src/model/scripted/script.ts';
import { memoryPair } from '../../../src/wire/memory.ts';
import { environment, newGate, newHome } from '../../support/agent/test-agent.ts';
import { Peer, type WireRecord } from '../../support/clients/peer.ts';
import { waitUntil } from '../../support/processes/processes.ts';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { verifies } from '../../support/verifies.ts';

interface Step {
  type: string;
  contentIndex: number;
  delta?: string;
  content?: string;
}

const stepsIn = (records: readonly WireRecord[]) =>
  records.flatMap(({ type, assistantMessageEvent }) =>
    type === 'message_update' ? [assistantMessageEvent as Step] : [],
  );

const isDelta = (record: WireRecord) => stepsIn([record])[0]?.type === 'text_delta';

/** Blocks that cannot be merged, some megabytes of them. */
const flood = {
  steps: Array.from({ length: 60 }, () => [{ text: 'x'.repeat(20_000) }, { thinking: 'y'.repeat(20_000) }]).flat(),
};
const floodText = 'x'.repeat(60 * 20_000);

for (const stream of ['cumulative', 'delta']) {
  verifies('M22 R1', `a delta does not wait for the next one in ${stream} form`, async ({ open }) => {
    const [first, second] = [newGate(), newGate()];
    const { peer } = await open({
      script: [
        {
          steps: [
            { text: 'a', chunks: 1 },
            { await: first.path },
            { text: 'b', chunks: 1 },
            { await: second.path },
            { text: 'c', chunks: 1 },
          ],
        },
      ],
      args: ['--stream', stream],
    });
    await peer.ok({ type: 'prompt', message: 'go' });

    expect(stepsIn([await peer.next(isDelta)])).toMatchObject([{ delta: 'a' }]);
    first.open();
    expect(stepsIn([await peer.next(isDelta)])).toMatchObject([{ delta: 'b' }]);
    second.open();

    await waitUntilSettled(peer);
    expect(assistantTexts(peer.records)).toEqual(['abc']);
  });
}

verifies('M23', 'a burst of deltas becomes few records, and no text is lost', async ({ open }) => {
  const words = 20_000;
  const { peer } = await open({ script: [{ text: 'word ', times: words }] });

  const records = await peer.run('go');

  const deltas = stepsIn(records).filter(({ type }) => type === 'text_delta');
  expect(deltas.map(({ delta }) => delta).join('')).toBe('word '.repeat(words));
  expect(deltas.length).toBeLessThan(words / 10);
});

verifies('M23 M24', 'whatever is not a delta finds every delta before it told', async ({ open }) => {
  const { peer } = await open({
    script: [
      {
        steps: Array.from({ length: 20 }, (_, index) => [
          { text: `t${index} `, times: 200 },
          { thinking: `h${index} `, times: 200 },
          { toolCall: { name: 'nothing', arguments: { text: 'z'.repeat(500) } }, chunks: 50 },
        ]).flat(),
      },
      { text: 'done' },
    ],
  });

  const steps = stepsIn(await peer.run('go'));

  let waiting = '';
  const ends = steps.flatMap((step) => {
    if (step.delta !== undefined) waiting += step.delta;
    if (!step.type.endsWith('_end')) return [];
    const told = waiting;
    waiting = '';
    return [{ step, told }];
  });
  expect(ends).toHaveLength(61);
  for (const { step, told } of ends) {
    if (step.content === undefined) expect(JSON.parse(told)).toEqual({ text: 'z'.repeat(500) });
    else expect(told).toBe(step.content);
  }
});

verifies('M25', 'a client that stops reading for a while gets everything', async ({ open }) => {
  const { peer } = await open({ script: [flood], args: ['--stream', 'delta'] });
  await peer.greeted();

  peer.link.pause();
  peer.send({ id: 'p', type: 'prompt', message: 'go' });
  await peer.link.flush();
  peer.link.resume();

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  expect(assistantTexts(peer.records)).toEqual([floodText]);
});

verifies('M25 P29', 'a client that does not read can stop the run', async ({ open }) => {
  const { peer, sessionFiles } = await open({ script: [flood], args: ['--stream', 'delta'] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  peer.link.pause();
  peer.send({ id: 'a', type: 'abort' });
  await waitUntil(async () => readFileSync(sessionFiles()[0] ?? '', 'utf8').includes('"stopReason":"aborted"'));
  peer.link.resume();

  expect(await peer.find(({ id }) => id === 'a')).toMatchObject({ success: true });
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted', aborted: true });
});

it('[M25] a client that does not read makes the run pause, and its reading makes it go on', async () => {
  const home = newHome();
  const { cwd, agentDir } = home;
  const env = environment(home);
  const script = parseScript(JSON.stringify(flood), 'flood');
  const engine = await openEngine({
    cwd,
    agentDir,
    env,
    models: await openModels({ agentDir, env, script, project: new Project({ cwd, agentDir }) }),
    sessionDirectory: () => home.root,
    first: { kind: 'memory' },
    dialect: { stream: 'delta' },
  });
  onTestFinished(() => engine.close());
  const [sleeper, watcher] = [memoryPair(), memoryPair()].map(([inside, outside]) => {
    engine.connect(inside);
    return new Peer(outside);
  }) as [Peer, Peer];
  await sleeper.greeted();
  sleeper.link.pause();
  await watcher.ok({ type: 'hello', heartbeatMs: 5 });
  await watcher.ok({ type: 'prompt', message: 'go' });

  await watcher.find(
    ({ type, blockedOn }) => type === 'heartbeat' && (blockedOn as { kind?: string })?.kind === 'client',
  );
  await watcher.ok({ type: 'hello', heartbeatMs: 0 });

  const told = watcher.records.length;
  expect(await watcher.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true });
  expect(watcher.records.slice(told).map(({ type }) => type)).toEqual(['response']);
  sleeper.link.resume();
  expect(await waitUntilSettled(watcher)).toMatchObject({ outcome: 'ok' });
  await sleeper.find('agent_settled');
  expect(assistantTexts(sleeper.records)).toEqual([floodText]);
  expect(assistantTexts(watcher.records)).toEqual([floodText]);
});
