import { expect } from 'vitest';
import { newGate } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { assistantTexts, waitUntilSettled, userTexts } from '../../support/agent/run-records.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

const replies = ['one', 'two', 'three', 'four'].map((text) => ({ text }));

/** Opens a run that is held, queues these messages for it, lets it go and waits for its end. */
async function delivered(peer: Peer, gate: { open: () => void }, commands: readonly object[]): Promise<void> {
  await peer.ok({ type: 'prompt', message: 'first' });
  await peer.next('message_update');
  for (const command of commands) await peer.ok(command as { type: string });
  gate.open();
  await waitUntilSettled(peer);
}

/** What the users said in each turn. */
function turns(peer: Peer): string[][] {
  const starts = peer.records.flatMap(({ type }, index) => (type === 'turn_start' ? [index] : []));
  return starts.map((start, turn) => userTexts(peer.records.slice(start, starts[turn + 1])));
}

const queues = {
  steering: { type: 'steer', command: 'set_steering_mode', field: 'steeringMode' },
  followUp: { type: 'follow_up', command: 'set_follow_up_mode', field: 'followUpMode' },
};

type Queue = (typeof queues)['steering'];

const three = ({ type }: Queue) => ['a', 'b', 'c'].map((message) => ({ type, message }));

/** Sets the modes in turn, queues three messages and expects these turns. */
const delivery =
  (queue: Queue, modes: readonly string[], expected: string[][]) =>
  async ({ open }: AgentFixture) => {
    const gate = newGate();
    const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'held' }] }, ...replies] });
    for (const mode of modes) {
      expect(await peer.request({ type: queue.command, mode })).not.toHaveProperty('data');
    }

    await delivered(peer, gate, three(queue));

    expect(turns(peer)).toEqual([['first'], ...expected]);
    expect(assistantTexts(peer.records)).toEqual(['held', ...replies.slice(0, expected.length).map(({ text }) => text)]);
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ [queue.field]: modes.at(-1) ?? 'one-at-a-time' });
  };

/** Queues three messages, then sets the mode to all and expects them at once. */
const changeOfMind =
  (queue: Queue) =>
  async ({ open }: AgentFixture) => {
    const gate = newGate();
    const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'held' }] }, ...replies] });

    await delivered(peer, gate, [...three(queue), { type: queue.command, mode: 'all' }]);

    expect(turns(peer)).toEqual([['first'], ['a', 'b', 'c']]);
  };

const { steering, followUp } = queues;
const together = [['a', 'b', 'c']];
const apart = [['a'], ['b'], ['c']];

verifies('Q1 Q2', 'steering mode all delivers everything at once', delivery(steering, ['all'], together));

verifies(
  'Q1 Q3',
  'steering mode one-at-a-time delivers one per turn',
  delivery(steering, ['all', 'one-at-a-time'], apart),
);

verifies('Q4 Q3', 'steering is delivered one at a time unless told otherwise', delivery(steering, [], apart));

verifies('Q1 Q2', 'the steering mode counts for messages that wait already', changeOfMind(steering));

verifies('Q5 Q6', 'follow-up mode all delivers everything at once', delivery(followUp, ['all'], together));

verifies(
  'Q5 Q7',
  'follow-up mode one-at-a-time delivers one at each stop',
  delivery(followUp, ['all', 'one-at-a-time'], apart),
);

verifies('Q8 Q7', 'follow-ups are delivered one at a time unless told otherwise', delivery(followUp, [], apart));

verifies('Q5 Q6', 'the follow-up mode counts for messages that wait already', changeOfMind(followUp));

verifies('Q1 Q5', 'the two modes do not touch each other', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'held' }] }, ...replies] });
  await peer.ok({ type: 'set_follow_up_mode', mode: 'all' });

  await delivered(peer, gate, [
    { type: 'follow_up', message: 'f1' },
    { type: 'steer', message: 's1' },
    { type: 'follow_up', message: 'f2' },
    { type: 'steer', message: 's2' },
  ]);

  expect(turns(peer)).toEqual([['first'], ['s1'], ['s2'], ['f1', 'f2']]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ steeringMode: 'one-at-a-time', followUpMode: 'all' });
});

for (const [command, field, usual] of [
  ['set_steering_mode', 'steeringMode', 'all'],
  ['set_follow_up_mode', 'followUpMode', 'all'],
  ['set_interrupt_mode', 'interruptMode', 'immediate'],
] as const) {
  verifies('Q28', `${command} refuses a mode it does not know and keeps the one it has`, async ({ open }) => {
    const { peer } = await open();
    await peer.ok({ type: command, mode: usual });
    const start = peer.records.length;

    for (const mode of ['weird', 'ALL', '', 7, null, ['all'], undefined]) {
      expect(await peer.refused({ type: command, mode })).toMatchObject({ command, code: 'invalid_params' });
    }

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ [field]: usual });
    expect(peer.records.slice(start).filter(({ type }) => type !== 'response')).toEqual([]);
  });
}
