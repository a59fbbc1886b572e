import { expect } from 'vitest';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

type State = Record<string, unknown>;
type Command = { type: string } & Record<string, unknown>;

interface Change {
  /** The changed fields with their new values; removed ones are null. */
  readonly difference: State;
  /** Every event sent between the command and its response. */
  readonly notices: WireRecord[];
}

/** Sends a command and compares the state before and after. */
async function change(peer: Peer, command: Command): Promise<Change> {
  const before: State = await peer.ok({ type: 'get_state' });
  const from = peer.records.length;
  await peer.ok(command);
  const notices = peer.records.slice(from).filter(({ type }) => type !== 'response');
  const after: State = await peer.ok({ type: 'get_state' });
  const names = Object.keys({ ...before, ...after });
  const differing = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return { difference: Object.fromEntries(differing.map((name) => [name, after[name] ?? null])), notices };
}

const stateChanges = ({ notices }: Change) => notices.filter(({ type }) => type === 'state_changed');

const commands: [string, Command, string[]][] = [
  ['the model', { type: 'set_model', provider: 'tau', modelId: 'scripted-slow' }, ['model']],
  ['the next model', { type: 'cycle_model' }, ['model']],
  ['the thinking level', { type: 'set_thinking_level', level: 'high' }, ['thinkingLevel']],
  ['the next thinking level', { type: 'cycle_thinking_level' }, ['thinkingLevel']],
  ['the name', { type: 'set_session_name', name: 'a name' }, ['sessionName']],
  ['the steering mode', { type: 'set_steering_mode', mode: 'all' }, ['steeringMode']],
  ['the follow-up mode', { type: 'set_follow_up_mode', mode: 'all' }, ['followUpMode']],
  ['the interrupt mode', { type: 'set_interrupt_mode', mode: 'immediate' }, ['interruptMode']],
  ['trust', { type: 'set_trust', trusted: true }, ['projectTrusted']],
];

for (const [what, command, fields] of commands) {
  verifies('I13 I14', `a change of ${what} publishes exactly the changed fields`, async ({ open }) => {
    const { peer } = await open();

    const changed = await change(peer, command);

    expect(stateChanges(changed)).toEqual([{ type: 'state_changed', state: changed.difference }]);
    expect(Object.keys(changed.difference)).toEqual(expect.arrayContaining(fields));
  });
}

verifies('I13', 'a command that changes nothing publishes nothing', async ({ open }) => {
  const { peer } = await open();
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-slow' });
  const state = await peer.ok({ type: 'get_state' });

  const same = [
    await change(peer, { type: 'set_steering_mode', mode: state.steeringMode }),
    await change(peer, { type: 'set_thinking_level', level: state.thinkingLevel }),
    await change(peer, { type: 'set_model', provider: 'tau', modelId: 'scripted-slow' }),
    await change(peer, { type: 'set_trust', trusted: state.projectTrusted }),
  ];

  expect(same.flatMap(({ notices }) => notices)).toEqual([]);
});

verifies(
  'I13 I14',
  'another session publishes every field that differs, with null for missing ones',
  async ({ open }) => {
    const { peer } = await open();
    await peer.run('say hello');
    await peer.ok({ type: 'set_session_name', name: 'the old one' });

    const changed = await change(peer, { type: 'new_session' });

    expect(stateChanges(changed)).toEqual([{ type: 'state_changed', state: changed.difference }]);
    expect(changed.difference).toMatchObject({ sessionName: null, messageCount: 0 });
    expect(changed.notices).toContainEqual({ type: 'session_info_changed' });
  },
  AGENT_SWITCHES_SESSION,
);

verifies('I16', 'a change of the name also publishes session_info_changed', async ({ open }) => {
  const { peer } = await open();

  const named = await change(peer, { type: 'set_session_name', name: '  two\nlines ' });
  const same = await change(peer, { type: 'set_session_name', name: 'two lines' });

  expect(named.notices).toContainEqual({ type: 'session_info_changed', name: 'two lines' });
  expect(same.notices).toEqual([]);
});

verifies('I17', 'a change of the thinking level also publishes thinking_level_changed', async ({ open }) => {
  const { peer } = await open();

  const set = await change(peer, { type: 'set_thinking_level', level: 'brief' });
  const same = await change(peer, { type: 'set_thinking_level', level: 'minimal' });
  const cycled = await change(peer, { type: 'cycle_thinking_level' });
  const forced = await change(peer, { type: 'set_model', provider: 'tau', modelId: 'scripted-small' });

  const levels = (result: Change) => result.notices.filter(({ type }) => type === 'thinking_level_changed');
  expect(levels(set)).toEqual([{ type: 'thinking_level_changed', level: 'minimal' }]);
  expect(same.notices).toEqual([]);
  expect(levels(cycled)).toEqual([{ type: 'thinking_level_changed', level: 'low' }]);
  expect(levels(forced)).toEqual([{ type: 'thinking_level_changed', level: 'off' }]);
});
