import { expect, it } from 'vitest';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate, newHome, openTestAgent as openOver, readSessionFile, TAU } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { startProgram } from '../../support/processes/program.ts';
import { entry, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const phases = [
  {
    id: 'phase-1',
    name: 'Evaluation',
    tasks: [
      { id: 'task-1', content: 'Map the read tool surface', status: 'in_progress' },
      { id: 'task-2', content: 'Exercise edit operations', status: 'pending' },
    ],
  },
];

const one = (content: string, status = 'completed') => [
  { id: 'phase-1', name: 'Only', tasks: [{ id: 'task-1', content, status }] },
];

const planOf = async (peer: Peer) => (await peer.ok({ type: 'get_state' })).todoPhases;

/** The events that a command causes before its response. */
async function eventsOf(peer: Peer, command: { type: string } & Record<string, unknown>) {
  await peer.greeted();
  const before = peer.records.length;
  await peer.ok(command);
  return peer.records.slice(before).filter(({ type }) => type !== 'response');
}

verifies('O1 O2 O3 O4 G14', 'set_todos replaces the plan, even before the first message', async ({ open }) => {
  const { peer } = await open();

  expect(await peer.ok({ type: 'set_todos', phases })).toEqual({ todoPhases: phases });
  expect(await planOf(peer)).toEqual(phases);
  expect(await peer.ok({ type: 'set_todos', phases: one('else') })).toEqual({ todoPhases: one('else') });
  expect(await planOf(peer)).toEqual(one('else'));
  expect(await peer.ok({ type: 'set_todos', phases: [] })).toEqual({ todoPhases: [] });
  expect(await planOf(peer)).toEqual([]);
});

verifies('O1 I13', 'each change of the plan is published, and an unchanged plan is not', async ({ open }) => {
  const { peer } = await open();
  await peer.ok({ type: 'set_active_tools', tools: ['read'] });

  expect(await eventsOf(peer, { type: 'set_todos', phases: [] })).toEqual([]);
  expect(await eventsOf(peer, { type: 'set_todos', phases })).toEqual([
    { type: 'state_changed', state: { todoPhases: phases } },
  ]);
  expect(await eventsOf(peer, { type: 'set_todos', phases })).toEqual([]);
  expect(await eventsOf(peer, { type: 'set_todos', phases: [] })).toEqual([
    { type: 'state_changed', state: { todoPhases: [] } },
  ]);
});

verifies('O2 O4 O11', 'set_todos assigns missing ids, trims text and drops unknown fields', async ({ open }) => {
  const { peer } = await open();

  const { todoPhases } = await peer.ok({
    type: 'set_todos',
    phases: [
      {
        name: ' First ',
        color: 'red',
        tasks: [
          { content: '\ta\n', status: 'pending', owner: 'me' },
          { content: 'b', status: 'in_progress', notes: ' n ', details: ' d ' },
        ],
      },
      { id: '', name: 'Second', tasks: [{ id: 'task-1', content: 'c', status: 'in_progress' }] },
      { id: 'phase-7', name: 'Third', tasks: [] },
    ],
  });

  expect(JSON.stringify(todoPhases)).toBe(
    JSON.stringify([
      {
        id: 'phase-8',
        name: 'First',
        tasks: [
          { id: 'task-2', content: 'a', status: 'pending' },
          { id: 'task-3', content: 'b', status: 'in_progress', notes: 'n', details: 'd' },
        ],
      },
      { id: 'phase-9', name: 'Second', tasks: [{ id: 'task-1', content: 'c', status: 'pending' }] },
      { id: 'phase-7', name: 'Third', tasks: [] },
    ]),
  );
});

verifies('O11', 'an invalid plan is rejected with the path of the field, and the old one stays', async ({ open }) => {
  const { peer } = await open();
  await peer.ok({ type: 'set_todos', phases });
  const task = (fields: object) => [{ name: 'a', tasks: [{ content: 'x', status: 'pending' }, fields] }];

  const refused: [unknown, string][] = [
    [undefined, 'phases is required'],
    ['all', 'phases must be an array'],
    [[{ tasks: [] }], 'phases[0].name is required'],
    [[{ name: 'a' }], 'phases[0].tasks is required'],
    [task({ content: 'x' }), 'phases[0].tasks[1].status is required'],
    [task({ content: 'x', status: 'done' }), 'phases[0].tasks[1].status must be one of'],
    [task({ content: 5, status: 'pending' }), 'phases[0].tasks[1].content must be a string'],
    [task({ content: ' ', status: 'pending' }), 'phases[0].tasks[1].content must not be blank'],
    [task({ content: 'x'.repeat(10_001), status: 'pending' }), 'phases[0].tasks[1].content has 10001 characters'],
    [[...phases, { id: 'phase-1', name: 'b', tasks: [] }], 'phases[1].id is "phase-1", as that of another phase'],
    [Array.from({ length: 101 }, () => ({ name: 'a', tasks: [] })), 'phases has 101 of at most 100'],
  ];
  for (const [wrong, problem] of refused) {
    const refusal = await peer.refused({ type: 'set_todos', phases: wrong });
    expect(refusal).toMatchObject({ code: 'invalid_params' });
    expect(refusal['error']).toContain(`Invalid parameters: ${problem}`);
  }

  expect(await planOf(peer)).toEqual(phases);
});

verifies('O1 O12', 'a plan set during a run applies at once', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'yes.' }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.find('message_update');

  await peer.ok({ type: 'set_todos', phases: one('x') });
  expect(await planOf(peer)).toEqual(one('x'));
  gate.open();

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  expect(assistantTexts(peer.records)).toEqual(['Well, yes.']);
  expect(await planOf(peer)).toEqual(one('x'));
});

verifies('O12', 'the plan is a session entry, and the last stored one applies', async ({ open }) => {
  const { peer, home, close, transport } = await open({ script: [{ text: 'hello' }] });
  await peer.run('go');
  const { sessionFile } = await peer.ok({ type: 'get_state' });
  await peer.ok({ type: 'set_todos', phases });
  await peer.ok({ type: 'set_todos', phases: one('last') });
  await close();

  const plans = readSessionFile(sessionFile).filter(({ customType }) => customType === 'tau:todos');
  expect(plans.map(({ type, data }) => ({ type, data }))).toEqual([
    { type: 'custom', data: phases },
    { type: 'custom', data: one('last') },
  ]);
  const again = await openOver(transport, { home, args: ['--session', sessionFile] });
  expect(await again.peer.ok({ type: 'get_state' })).toMatchObject({
    todoPhases: one('last'),
    activeTools: expect.arrayContaining(['todo']),
    messageCount: 2,
  });
});

verifies(
  'O12 J17',
  'an acknowledged plan survives SIGKILL, even before the first message',
  async ({ open }) => {
    const { peer, home, process } = await open();
    const { sessionFile } = await peer.ok({ type: 'get_state' });
    await peer.ok({ type: 'set_todos', phases });

    process?.kill('SIGKILL');
    await process?.exited;

    const again = await open({ home, args: ['--session', sessionFile] });
    expect(await planOf(again.peer)).toEqual(phases);
  },
  ['stdio', 'unix'],
);

verifies('O12', 'each session has its own plan', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'hello' }, { repeat: true }] });
  await peer.run('go');
  const first = await peer.ok({ type: 'get_state' });
  await peer.ok({ type: 'set_todos', phases: one('first') });

  await peer.ok({ type: 'new_session' });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ todoPhases: [], activeTools: first.activeTools });
  await peer.run('go');
  await peer.ok({ type: 'set_todos', phases: one('second') });
  await peer.ok({ type: 'switch_session', sessionPath: first.sessionFile });

  expect(await planOf(peer)).toEqual(one('first'));
  const stateEvent = peer.records.findLast(({ type }) => type === 'state_changed' || type === 'state_synced');
  expect(stateEvent).toMatchObject({ state: { todoPhases: one('first') } });
});

verifies('O12', 'a fork has the plan of its fork point, a clone that of its source', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'hello' }, { repeat: true }] });
  await peer.ok({ type: 'set_todos', phases: one('early') });
  await peer.run('first');
  await peer.run('second');
  await peer.ok({ type: 'set_todos', phases: one('late') });
  const [, second] = (await peer.ok({ type: 'get_fork_messages' })).messages;
  await peer.ok({ type: 'clone' });
  expect(await planOf(peer)).toEqual(one('late'));

  await peer.ok({ type: 'fork', entryId: second.entryId });

  expect(await planOf(peer)).toEqual(one('early'));
});

verifies('O12', 'a malformed plan in a session file is ignored', async ({ open }) => {
  const home = newHome();
  const twice = [...one('a'), ...one('b')];
  for (const data of [undefined, null, 'x', {}, [{ name: 1 }], [{ name: ' ', tasks: [] }], twice]) {
    const plan = entry('custom', '11111111', 'bbbbbbbb', { customType: 'tau:todos', data });
    const path = storeSession(home, [...shortConversation(home.cwd), plan]);
    const { peer, close } = await open({ home, args: ['--session', path] });

    expect(await planOf(peer)).toEqual([]);
    expect(await peer.ok({ type: 'set_todos', phases })).toEqual({ todoPhases: phases });
    await close();
  }
});

verifies(
  'O12',
  'without a session file the plan lasts as long as the session',
  async ({ open }) => {
    const { peer, sessionFiles } = await open({ args: ['--no-session'] });

    await peer.ok({ type: 'set_todos', phases });

    expect(await planOf(peer)).toEqual(phases);
    expect(sessionFiles()).toEqual([]);
  },
  LOCAL_TRANSPORTS,
);

it('[O12] a plan that cannot be stored is rejected, and the current plan stays', async () => {
  const limited = 'ulimit -f 64; exec "$0" "$1" --mode rpc';
  const agent = startProgram(newHome(), ['bash', '-c', limited, process.execPath, TAU]);
  const large = Array.from({ length: 9 }, () => ({ content: 'x'.repeat(9000), status: 'pending' }));

  agent.send({ id: 1, type: 'set_todos', phases });
  agent.send({ id: 2, type: 'set_todos', phases: [{ name: 'Large', tasks: large }] });
  await agent.waitForOutput('"id":2');
  agent.send({ id: 3, type: 'get_state' });
  await agent.waitForOutput('"id":3');

  const records = agent
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records.find(({ id }) => id === 2)).toMatchObject({ success: false });
  expect(records.find(({ id }) => id === 3).data.todoPhases).toEqual(phases);
});
