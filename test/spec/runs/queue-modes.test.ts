import { expect } from 'vitest';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

const replies = ['one', 'two', 'three', 'four'].map((text) => ({ text }));

/** Opens a held run, queues these messages for it, releases it and waits for its end. */
async function runWithQueued(peer: Peer, gate: { open: () => void }, commands: readonly object[]): Promise<void> {
  await peer.ok({ type: 'prompt', message: 'first' });
  await peer.next('message_update');
  for (const command of commands) await peer.ok(command as { type: string });
  gate.open();
  await waitUntilSettled(peer);
}

/** The user texts of each turn. */
function userTextsByTurn(peer: Peer): string[][] {
  const starts = peer.records.flatMap(({ type }, index) => (type === 'turn_start' ? [index] : []));
  return starts.map((start, turn) => userTexts(peer.records.slice(start, starts[turn + 1])));
}

const queues = {
  steering: { type: 'steer', command: 'set_steering_mode', field: 'steeringMode' },
  followUp: { type: 'follow_up', command: 'set_follow_up_mode', field: 'followUpMode' },
};

type Queue = (typeof queues)['steering'];

const three = ({ type }: Queue) => ['a', 'b', 'c'].map((message) => ({ type, message }));

/** Sets the modes in sequence, queues three messages and expects these turns. */
const delivery =
  (queue: Queue, modes: readonly string[], expected: string[][]) =>
  async ({ open }: AgentFixture) => {
    const gate = newGate();
    const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'held' }] }, ...replies] });
    for (const mode of modes) {
      expect(await peer.request({ type: queue.command, mode })).not.toHaveProperty('data');
    }

    await runWithQueued(peer, gate, three(queue));

    expect(userTextsByTurn(peer)).toEqual([['first'], ...expected]);
    expect(assistantTexts(peer.records)).toEqual([
      'held',
      ...replies.slice(0, expected.length).map(({ text }) => text),
    ]);
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ [queue.field]: modes.at(-1) ?? 'one-at-a-time' });
  };

/** Queues three messages, then sets mode all and expects them in one turn. */
const lateModeChange =
  (queue: Queue) =>
  async ({ open }: AgentFixture) => {
    const gate = newGate();
    const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'held' }] }, ...replies] });

    await runWithQueued(peer, gate, [...three(queue), { type: queue.command, mode: 'all' }]);

    expect(userTextsByTurn(peer)).toEqual([['first'], ['a', 'b', 'c']]);
  };

const { steering, followUp } = queues;
const together = [['a', 'b', 'c']];
const apart = [['a'], ['b'], ['c']];

verifies('Q1 Q2', 'steering mode all delivers every message at once', delivery(steering, ['all'], together));

verifies(
  'Q1 Q3',
  'steering mode one-at-a-time delivers one per turn',
  delivery(steering, ['all', 'one-at-a-time'], apart),
);

verifies('Q4 Q3', 'steering is delivered one at a time by default', delivery(steering, [], apart));

verifies('Q1 Q2', 'the steering mode applies to messages already queued', lateModeChange(steering));

verifies('Q5 Q6', 'follow-up mode all delivers every message at once', delivery(followUp, ['all'], together));

verifies(
  'Q5 Q7',
  'follow-up mode one-at-a-time delivers one at each stop',
  delivery(followUp, ['all', 'one-at-a-time'], apart),
);

verifies('Q8 Q7', 'follow-ups are delivered one at a time by default', delivery(followUp, [], apart));

verifies('Q5 Q6', 'the follow-up mode applies to messages already queued', lateModeChange(followUp));

verifies('Q1 Q5', 'the steering mode and the follow-up mode are independent', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'held' }] }, ...replies] });
  await peer.ok({ type: 'set_follow_up_mode', mode: 'all' });

  await runWithQueued(peer, gate, [
    { type: 'follow_up', message: 'f1' },
    { type: 'steer', message: 's1' },
    { type: 'follow_up', message: 'f2' },
    { type: 'steer', message: 's2' },
  ]);

  expect(userTextsByTurn(peer)).toEqual([['first'], ['s1'], ['s2'], ['f1', 'f2']]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ steeringMode: 'one-at-a-time', followUpMode: 'all' });
});

for (const [command, field, current] of [
  ['set_steering_mode', 'steeringMode', 'all'],
  ['set_follow_up_mode', 'followUpMode', 'all'],
  ['set_interrupt_mode', 'interruptMode', 'immediate'],
] as const) {
  verifies('Q28', `${command} rejects an unknown mode and keeps the current one`, async ({ open }) => {
    const { peer } = await open();
    await peer.ok({ type: command, mode: current });
    const start = peer.records.length;

    for (const mode of ['weird', 'ALL', '', 7, null, ['all'], undefined]) {
      expect(await peer.refused({ type: command, mode })).toMatchObject({ command, code: 'invalid_params' });
    }

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ [field]: current });
    expect(peer.records.slice(start).filter(({ type }) => type !== 'response')).toEqual([]);
  });
}
