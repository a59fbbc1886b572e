import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { openModels } from '../../../src/engine/models/open-models.ts';
import { openEngine } from '../../../src/engine/open.ts';
import { Project } from '../../../src/engine/project.ts';
import { parseScript } from '../../../src/model/scripted/script.ts';
import { memoryPair } from '../../../src/wire/memory.ts';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { environment, newGate, newHome } from '../../support/agent/test-agent.ts';
import { Peer, type WireRecord } from '../../support/clients/peer.ts';
import { waitUntil } from '../../support/processes/processes.ts';
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

/** Several megabytes of blocks that cannot be merged. */
const flood = {
  steps: Array.from({ length: 60 }, () => [{ text: 'x'.repeat(20_000) }, { thinking: 'y'.repeat(20_000) }]).flat(),
};
const floodText = 'x'.repeat(60 * 20_000);

for (const stream of ['cumulative', 'delta']) {
  verifies('M22 R1', `in ${stream} form a delta is sent without waiting for the next one`, async ({ open }) => {
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

verifies('M23', 'a burst of deltas is merged into few records without loss of text', async ({ open }) => {
  const words = 20_000;
  const { peer } = await open({ script: [{ text: 'word ', times: words }] });

  const records = await peer.run('go');

  const deltas = stepsIn(records).filter(({ type }) => type === 'text_delta');
  expect(deltas.map(({ delta }) => delta).join('')).toBe('word '.repeat(words));
  expect(deltas.length).toBeLessThan(words / 10);
});

verifies('M23 M24', 'every step that is not a delta follows all deltas before it', async ({ open }) => {
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

  let pending = '';
  const ends = steps.flatMap((step) => {
    if (step.delta !== undefined) pending += step.delta;
    if (!step.type.endsWith('_end')) return [];
    const sent = pending;
    pending = '';
    return [{ step, sent }];
  });
  expect(ends).toHaveLength(61);
  for (const { step, sent } of ends) {
    if (step.content === undefined) expect(JSON.parse(sent)).toEqual({ text: 'z'.repeat(500) });
    else expect(sent).toBe(step.content);
  }
});

verifies('M25', 'a client that pauses reading gets every record', async ({ open }) => {
  const { peer } = await open({ script: [flood], args: ['--stream', 'delta'] });
  await peer.greeted();

  peer.link.pause();
  peer.send({ id: 'p', type: 'prompt', message: 'go' });
  await peer.link.flush();
  peer.link.resume();

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  expect(assistantTexts(peer.records)).toEqual([floodText]);
});

verifies('M25 P29', 'a client that does not read can abort the run', async ({ open }) => {
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

it('[M25 I18] a client that does not read pauses the run, which resumes when the client reads', async () => {
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
  const [pausedPeer, activePeer] = [memoryPair(), memoryPair()].map(([inside, outside]) => {
    engine.connect(inside);
    return new Peer(outside);
  }) as [Peer, Peer];
  await pausedPeer.greeted();
  pausedPeer.link.pause();
  await activePeer.ok({ type: 'hello', heartbeatMs: 5 });
  await activePeer.ok({ type: 'prompt', message: 'go' });

  await activePeer.find(
    ({ type, blockedOn }) => type === 'heartbeat' && (blockedOn as { kind?: string })?.kind === 'client',
  );
  await activePeer.ok({ type: 'hello', heartbeatMs: 0 });

  const sent = activePeer.records.length;
  expect(await activePeer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true });
  expect(activePeer.records.slice(sent).map(({ type }) => type)).toEqual(['response']);
  pausedPeer.link.resume();
  expect(await waitUntilSettled(activePeer)).toMatchObject({ outcome: 'ok' });
  await pausedPeer.find('agent_settled');
  expect(assistantTexts(pausedPeer.records)).toEqual([floodText]);
  expect(assistantTexts(activePeer.records)).toEqual([floodText]);
});
