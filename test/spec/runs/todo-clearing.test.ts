import { expect } from 'vitest';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { entry, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

/** Options that clear finished tasks after this many seconds. */
const clearing = (delay: number) => ({
  settings: { 'tasks.todoClearDelay': delay },
  args: ['--inherit-workflow-settings'],
});

const plan = (...statuses: string[]) => [
  { id: 'done', name: 'Done', tasks: [{ id: 'a', content: 'first', status: 'completed' }] },
  {
    id: 'rest',
    name: 'Rest',
    tasks: statuses.map((status, index) => ({ id: `r${index}`, content: 'x', status })),
  },
];

const planOf = async (peer: Peer) => (await peer.ok({ type: 'get_state' })).todoPhases;
const clearings = (peer: Peer) => peer.records.filter(({ type }) => type === 'todo_auto_clear');

verifies('O6 O16', 'finished tasks are cleared automatically, with phases that have no others', async ({ open }) => {
  const { peer } = await open(clearing(0));
  await peer.ok({ type: 'set_active_tools', tools: [] });

  const { todoPhases } = await peer.ok({ type: 'set_todos', phases: plan('abandoned', 'pending', 'blocked') });
  await peer.find('todo_auto_clear');

  expect(todoPhases).toEqual(plan('abandoned', 'pending', 'blocked'));
  const [, rest] = plan('abandoned', 'pending', 'blocked');
  const left = [{ ...rest, tasks: rest?.tasks.slice(1) }];
  expect(await planOf(peer)).toEqual(left);
  expect(clearings(peer)).toEqual([{ type: 'todo_auto_clear' }]);
  const changes = peer.records.flatMap(({ type, state }) => (type === 'state_changed' ? [state] : []));
  expect(changes.slice(1)).toEqual([{ todoPhases }, { todoPhases: left }]);
});

verifies('O16', 'the plan left after clearing is the one that is stored', async ({ open }) => {
  const { peer, home, close } = await open({ ...clearing(0), script: [{ text: 'hello' }] });
  await peer.run('go');
  const { sessionFile } = await peer.ok({ type: 'get_state' });
  await peer.ok({ type: 'set_todos', phases: plan('blocked') });
  await peer.find('todo_auto_clear');
  await close();

  const again = await open({ home, args: ['--session', sessionFile] });

  expect(await planOf(again.peer)).toEqual(plan('blocked').slice(1));
});

verifies('O16', 'tasks finished by the todo tool are cleared during the run', async ({ open }) => {
  const gate = newGate();
  const finish = { op: 'update', id: 'r0', status: 'completed' };
  const { peer } = await open({
    ...clearing(0),
    script: [
      { toolCall: { name: 'todo', arguments: { ops: [finish] } } },
      { steps: [{ await: gate.path }, { text: 'done' }] },
    ],
  });
  await peer.ok({ type: 'set_todos', phases: plan('pending').slice(1) });

  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.find('todo_auto_clear');
  gate.open();

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  expect(await planOf(peer)).toEqual([]);
  expect((await peer.ok({ type: 'get_state' })).activeTools).not.toContain('todo');
});

verifies('O16', 'finished tasks are not cleared at once by default, nor with a negative delay', async ({ open }) => {
  for (const options of [clearing(-1), {}]) {
    const { peer, close } = await open(options);

    await peer.ok({ type: 'set_todos', phases: plan() });
    await peer.ok({ type: 'bash', command: 'true' });

    expect(await planOf(peer)).toEqual(plan());
    expect(clearings(peer)).toEqual([]);
    await close();
  }
});

verifies('O16', 'finished tasks of a stored session are cleared when it is opened or switched to', async ({ open }) => {
  const home = newHome();
  const plan1 = entry('custom', '11111111', 'bbbbbbbb', { customType: 'tau:todos', data: plan('pending') });
  const sessionPath = storeSession(home, [...shortConversation(home.cwd), plan1]);
  const opened = await open({ ...clearing(0), home, args: ['--inherit-workflow-settings', '--session', sessionPath] });
  await opened.peer.find('todo_auto_clear');
  expect(await planOf(opened.peer)).toEqual(plan('pending').slice(1));
  await opened.close();

  const other = storeSession(home, [...shortConversation(home.cwd), plan1]);
  const { peer } = await open({ ...clearing(0), home });
  await peer.ok({ type: 'switch_session', sessionPath: other });
  await peer.find('todo_auto_clear');

  expect(await planOf(peer)).toEqual(plan('pending').slice(1));
});

verifies(
  'O16',
  'tasks waiting to be cleared do not keep the process alive',
  async ({ open }) => {
    const { peer, process } = await open();
    await peer.ok({ type: 'set_todos', phases: plan() });

    process?.endInput();

    expect(await process?.exited).toEqual({ code: 0, signal: null });
  },
  ['stdio'],
);
