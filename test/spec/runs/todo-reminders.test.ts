import { expect } from 'vitest';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { NO_RETRY, newGate } from '../../support/agent/test-agent.ts';
import { outline, type Peer, type WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const open1 = { id: 'task-1', content: 'Do it', status: 'in_progress' };
const open2 = { id: 'task-2', content: 'Test it', status: 'pending', notes: 'twice' };
const phases = [
  {
    id: 'phase-1',
    name: 'All',
    tasks: [
      open1,
      { id: 'task-3', content: 'Done', status: 'completed' },
      { id: 'task-4', content: 'Stuck', status: 'blocked' },
      open2,
    ],
  },
];

const useTool = { toolCall: { name: 'bash', arguments: { command: 'true' } } };
const change = (...ops: object[]) => ({ toolCall: { name: 'todo', arguments: { ops } } });
const finish = (...ids: string[]) => change(...ids.map((id) => ({ op: 'update', id, status: 'completed' })));
const stop = (text = 'That is it.') => ({ text });

const reminders = (records: readonly WireRecord[]) => records.filter(({ type }) => type === 'todo_reminder');
const attempts = (records: readonly WireRecord[]) => reminders(records).map(({ attempt }) => attempt);

/** Gives the agent a plan with two open tasks. */
async function setPlan(peer: Peer): Promise<Peer> {
  await peer.ok({ type: 'set_todos', phases });
  return peer;
}

verifies(
  'O5 O15',
  'an agent that stops with open tasks is reminded and continues in the same run',
  async ({ open }) => {
    const { peer } = await open({ script: [stop(), finish('task-1', 'task-2'), stop('Now it is.')] });
    await setPlan(peer);

    const records = await peer.run('go');

    expect(reminders(records)).toEqual([{ type: 'todo_reminder', todos: [open1, open2], attempt: 1, maxAttempts: 3 }]);
    expect(assistantTexts(records)).toEqual(['That is it.', '', 'Now it is.']);
    const types = outline(records).filter((type) => !/^message_update|^response|_changed/.test(type));
    const at = types.indexOf('todo_reminder');
    expect(types.slice(at - 1, at + 6)).toEqual([
      'turn_end',
      'todo_reminder',
      'message_start',
      'message_end',
      'agent_end',
      'agent_start',
      'turn_start',
    ]);
    expect(types.filter((type) => type === 'agent_settled')).toHaveLength(1);
    expect(records.flatMap(({ type, isTerminal }) => (type === 'agent_end' ? [isTerminal] : []))).toEqual([
      false,
      true,
    ]);
    const { messages } = await peer.ok({ type: 'get_messages' });
    expect(messages[3]).toEqual({
      role: 'custom',
      customType: 'todo-reminder',
      content:
        'The plan still has tasks to do (reminder 1 of 3):\nAll (phase-1)\n- task-1: Do it [in progress]\n' +
        '- task-4: Stuck [blocked]\n- task-2: Test it\nGo on with them. ' +
        'Say with the todo tool what is completed, or abandoned because it is no longer wanted.',
      display: false,
      timestamp: expect.any(Number),
    });
  },
);

verifies('O15', 'at most three reminders are sent per prompt', async ({ open }) => {
  const { peer } = await open({ script: [stop(), useTool, { repeat: true }] });
  await setPlan(peer);

  const first = await peer.run('go');
  const second = await peer.run('and?');

  expect(attempts(first)).toEqual([1, 2, 3]);
  expect(attempts(second)).toEqual([1, 2, 3]);
  expect([...first, ...second].filter(({ type }) => type === 'agent_settled')).toMatchObject([
    { outcome: 'ok' },
    { outcome: 'ok' },
  ]);
});

verifies('O15', 'no second reminder is sent before a tool was used', async ({ open }) => {
  const { peer } = await open({ script: [stop(), stop(), stop('No more.')] });
  await setPlan(peer);

  const records = await peer.run('go');

  expect(attempts(records)).toEqual([1]);
  expect(assistantTexts(records)).toHaveLength(2);
});

verifies('O15', 'reminders count from one again once the plan had no open task', async ({ open }) => {
  const anew = change({ op: 'replace', phases: [{ name: 'New', tasks: [{ content: 'More' }] }] });
  const { peer } = await open({
    script: [stop(), useTool, stop(), finish('task-1', 'task-2'), anew, stop(), change(), stop(), stop()],
  });
  await setPlan(peer);

  expect(attempts(await peer.run('go'))).toEqual([1, 2, 1, 2]);
});

verifies('O15', 'a message that joins the run resets the reminders as a prompt does', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [stop(), { steps: [{ text: 'So' }, { await: gate.path }] }, stop(), stop()],
  });
  await setPlan(peer);
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.find(
    (record) => JSON.stringify(record).includes('"delta":"So"') || JSON.stringify(record).includes('"text":"So"'),
  );

  await peer.ok({ type: 'follow_up', message: 'and?' });
  gate.open();
  await waitUntilSettled(peer);

  expect(attempts(peer.records)).toEqual([1, 1]);
});

for (const text of ['Shall I go on?', 'Wirklich “so?” ', '続けますか？', 'Is it **this?**', 'هل أكمل؟']) {
  verifies('O15', `no reminder is sent when the agent asks: ${text}`, async ({ open }) => {
    const { peer } = await open({ script: [stop(text)] });
    await setPlan(peer);

    expect(reminders(await peer.run('go'))).toEqual([]);
  });
}

verifies('O15', 'no reminder is sent without open tasks', async ({ open }) => {
  const { peer } = await open({ script: [stop(), { repeat: true }] });
  const tasks = ['completed', 'abandoned', 'blocked'].map((status) => ({ content: status, status }));

  for (const plan of [[], [{ name: 'Empty', tasks: [] }], [{ name: 'Over', tasks }]]) {
    await peer.ok({ type: 'set_todos', phases: plan });
    expect(reminders(await peer.run('go'))).toEqual([]);
  }
});

verifies('O15', 'no reminder is sent after a failure', async ({ open }) => {
  const { peer } = await open({
    settings: NO_RETRY,
    script: [{ steps: [{ text: 'Well' }, { error: { status: 500 } }] }],
  });
  await setPlan(peer);

  const records = await peer.run('go');

  expect(records.at(-1)).toMatchObject({ outcome: 'error' });
  expect(reminders(records)).toEqual([]);
});

verifies('O15', 'a reminder is sent after a failure that a retry recovered', async ({ open }) => {
  const { peer } = await open({
    settings: { retry: { baseDelayMs: 0 } },
    script: [{ steps: [{ error: { status: 529 } }] }, stop(), stop()],
  });
  await setPlan(peer);

  const records = await peer.run('go');

  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
  expect(attempts(records)).toEqual([1]);
});

verifies('O15', 'no reminder is sent after an abort', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [{ text: 'Well' }, { stall: true }] }] });
  await setPlan(peer);
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.find('message_update');

  await peer.ok({ type: 'abort' });

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted' });
  expect(reminders(peer.records)).toEqual([]);
});

verifies('O15', 'no reminder is sent when the limits allow no further model call', async ({ open }) => {
  const { peer } = await open({ script: [stop(), { repeat: true }] });
  await setPlan(peer);

  const one = await peer.run({ message: 'go', limits: { turns: 1 } });
  const two = await peer.run({ message: 'go', limits: { turns: 2 } });

  expect(one.at(-1)).toMatchObject({ outcome: 'ok' });
  expect(reminders(one)).toEqual([]);
  expect(two.at(-1)).toMatchObject({ outcome: 'ok' });
  expect(attempts(two)).toEqual([1]);
});

verifies('O15', 'the reminder does not name a tool that the model lacks', async ({ open }) => {
  const { peer } = await open({ args: ['--tools', 'bash'], script: [stop(), stop()] });
  await setPlan(peer);

  const records = await peer.run('go');

  expect(attempts(records)).toEqual([1]);
  expect(JSON.stringify((await peer.ok({ type: 'get_messages' })).messages)).not.toContain('todo tool');
});

verifies('O15', 'an agent is reminded of a stored plan after a restart', async ({ open }) => {
  const { peer, home, close } = await open({ script: [stop(), stop()] });
  await setPlan(peer);
  await peer.run('go');
  const { sessionFile } = await peer.ok({ type: 'get_state' });
  await close();

  const again = await open({ home, args: ['--session', sessionFile], script: [stop(), useTool, stop(), stop()] });

  expect(attempts(await again.peer.run('and?'))).toEqual([1, 2]);
});
