import { expect } from 'vitest';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const plan = (...statuses: string[]) => [
  {
    id: 'phase-1',
    name: 'All',
    tasks: statuses.map((status, index) => ({ id: `task-${index + 1}`, content: `Do ${index + 1}`, status })),
  },
];

const todoCall = (...ops: object[]) => ({ toolCall: { name: 'todo', arguments: { ops } } });
const finish = (id: string) => ({ op: 'update', id, status: 'completed' });

const activeTools = async (peer: Peer): Promise<string[]> => (await peer.ok({ type: 'get_state' })).activeTools;
const planOf = async (peer: Peer) => (await peer.ok({ type: 'get_state' })).todoPhases;

const resultsIn = (records: readonly WireRecord[]) =>
  records.flatMap(({ type, message }) => {
    const { role, content, details, isError } = message as Record<string, unknown>;
    return type === 'message_end' && role === 'toolResult'
      ? [{ text: (content as { text: string }[])[0]?.text, details, isError }]
      : [];
  });

/** The records that carry a message. */
const withMessage = (records: readonly WireRecord[]) => records.filter(({ message }) => message !== undefined);

verifies('O13', 'the todo tool is listed, and active while there is a plan', async ({ open }) => {
  const { peer } = await open();
  const defaults = await activeTools(peer);

  const { tools } = await peer.ok({ type: 'get_tools' });
  expect(tools.find(({ name }: { name: string }) => name === 'todo')).toMatchObject({
    active: false,
    source: 'builtin',
  });
  await peer.ok({ type: 'set_todos', phases: [{ name: 'Empty', tasks: [] }] });
  expect(await activeTools(peer)).toEqual(defaults);
  await peer.ok({ type: 'set_todos', phases: plan('pending') });
  expect(await activeTools(peer)).toEqual([...defaults, 'todo']);
  await peer.ok({ type: 'set_todos', phases: [] });

  expect(await activeTools(peer)).toEqual(defaults);
});

verifies('O13', 'tool flags decide whether todo is active', async ({ open }) => {
  const cases: [string[], boolean, boolean][] = [
    [['--tools', '+todo'], true, true],
    [['--tools', 'read,todo'], true, true],
    [['--tools', '+grep'], false, true],
    [['--exclude-tools', 'bash'], false, true],
    [['--tools', 'read,bash'], false, false],
    [['--tools', '-todo'], false, false],
    [['--exclude-tools', 'todo'], false, false],
    [['--no-tools'], false, false],
  ];
  for (const [args, without, withPlan] of cases) {
    const { peer, close } = await open({ args });
    expect((await activeTools(peer)).includes('todo'), `${args}`).toBe(without);
    await peer.ok({ type: 'set_todos', phases: plan('pending') });
    expect((await activeTools(peer)).includes('todo'), `${args} with a plan`).toBe(withPlan);
    await close();
  }
});

verifies('O13 T21', 'set_active_tools overrides whether todo is active', async ({ open }) => {
  const { peer } = await open();
  await peer.ok({ type: 'set_todos', phases: plan('pending') });

  await peer.ok({ type: 'set_active_tools', tools: ['read'] });
  expect(await activeTools(peer)).toEqual(['read']);
  await peer.ok({ type: 'set_active_tools', tools: ['read', 'todo'] });
  await peer.ok({ type: 'set_todos', phases: [] });

  expect(await activeTools(peer)).toEqual(['read', 'todo']);
});

verifies('O14', 'the model works through a plan set by a client', async ({ open }) => {
  const { peer } = await open({
    script: [todoCall(finish('task-1')), todoCall(finish('task-2')), { text: 'All done.' }],
  });
  await peer.ok({ type: 'set_todos', phases: plan('pending', 'pending') });

  const records = await peer.run('go');

  expect(resultsIn(withMessage(records))).toEqual([
    {
      text: '1 of 2 tasks to do.\nAll (phase-1)\n- task-2: Do 2 [in progress]',
      details: { phases: plan('completed', 'in_progress') },
      isError: false,
    },
    { text: '0 of 2 tasks to do.', details: { phases: plan('completed', 'completed') }, isError: false },
  ]);
  const changes = records.flatMap(({ type, state }) => (type === 'state_changed' ? [state] : []));
  expect(changes).toEqual([
    { todoPhases: plan('completed', 'in_progress') },
    { todoPhases: plan('completed', 'completed') },
  ]);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('O14', 'the model makes its own plan when it has the todo tool', async ({ open }) => {
  const phases = [{ name: 'Look', tasks: [{ content: 'read' }] }];
  const { peer } = await open({
    args: ['--tools', '+todo'],
    script: [
      todoCall(
        { op: 'replace', phases },
        { op: 'add_phase', name: 'Do', tasks: [{ content: 'write', details: 'all of it' }] },
        { op: 'add_task', phase: 'Do', content: 'test', notes: 'twice' },
        { op: 'update', id: 'task-1', status: 'abandoned' },
        { op: 'remove_task', id: 'task-1' },
      ),
      { text: 'Shall I go on?' },
    ],
  });

  const records = await peer.run('make a plan');

  const todoPhases = [
    { id: 'phase-1', name: 'Look', tasks: [] },
    {
      id: 'phase-2',
      name: 'Do',
      tasks: [
        { id: 'task-2', content: 'write', status: 'in_progress', details: 'all of it' },
        { id: 'task-3', content: 'test', status: 'pending', notes: 'twice' },
      ],
    },
  ];
  expect(await planOf(peer)).toEqual(todoPhases);
  expect(resultsIn(withMessage(records))).toEqual([
    {
      text: '2 of 2 tasks to do.\nDo (phase-2)\n- task-2: write [in progress]\n  Details: all of it\n- task-3: test',
      details: { phases: todoPhases },
      isError: false,
    },
  ]);
});

verifies('O14', 'failed ops are named, the others apply; if all fail, the call is an error', async ({ open }) => {
  const { peer } = await open({
    script: [
      todoCall({ op: 'update', id: 'task-9' }, finish('task-1'), { op: 'add_task', phase: 'Nowhere', content: 'x' }),
      todoCall({ op: 'remove_task', id: 'task-9' }),
      todoCall(),
      todoCall({ op: 'fly' }),
      { text: 'Enough?' },
    ],
  });
  await peer.ok({ type: 'set_todos', phases: plan('pending', 'blocked', 'pending') });

  const results = resultsIn(withMessage(await peer.run('go')));

  const left = '1 of 3 tasks to do, 1 blocked.\nAll (phase-1)\n- task-2: Do 2 [blocked]\n- task-3: Do 3 [in progress]';
  const details = { phases: plan('completed', 'blocked', 'in_progress') };
  expect(results.slice(0, 3)).toEqual([
    {
      text: `Errors: ops[0] (update): there is no task task-9; ops[2] (add_task): there is no phase Nowhere\n${left}`,
      details,
      isError: false,
    },
    { text: `Errors: ops[0] (remove_task): there is no task task-9\n${left}`, details, isError: true },
    { text: left, details, isError: false },
  ]);
  expect(results[3]).toMatchObject({ isError: true, text: expect.stringContaining('ops[0].op') });
  expect(await planOf(peer)).toEqual(details.phases);
});

verifies(
  'O14',
  'several todo calls in one message, and set_todos meanwhile, are applied one after another',
  async ({ open }) => {
    const gate = newGate();
    const add = (content: string) => todoCall({ op: 'add_task', phase: 'All', content });
    const { peer } = await open({
      script: [{ steps: [add('a'), add('b'), { ...add('c'), await: gate.path }] }, { text: 'Is that all?' }],
    });
    await peer.ok({ type: 'set_todos', phases: plan('pending') });
    await peer.ok({ type: 'prompt', message: 'go' });
    await peer.find((record) => JSON.stringify(record).includes('toolcall_end'));

    await peer.ok({ type: 'set_todos', phases: plan('completed', 'pending') });
    gate.open();
    await waitUntilSettled(peer);

    const [{ tasks }] = await planOf(peer);
    expect(tasks.map(({ id, content }: { id: string; content: string }) => `${id} ${content}`)).toEqual([
      'task-1 Do 1',
      'task-2 Do 2',
      'task-3 a',
      'task-4 b',
      'task-5 c',
    ]);
  },
);

verifies('O14', 'an aborted run changes the plan no further', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ steps: [{ ...todoCall(finish('task-1')), await: gate.path }] }, { text: 'after' }],
  });
  await peer.ok({ type: 'set_todos', phases: plan('pending') });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.find((record) => JSON.stringify(record).includes('toolcall_start'));

  await peer.ok({ type: 'abort' });
  gate.open();

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted' });
  expect(await planOf(peer)).toEqual(plan('pending'));
});
