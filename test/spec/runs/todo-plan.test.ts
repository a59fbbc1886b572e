import { expect } from 'vitest';
import { verifies } from '../../support/verifies.ts';

const phases = [{ name: 'All', tasks: [{ content: 'Do it', status: 'pending' }] }];

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
const announced = (messages: any[]) => messages.filter(({ customType }) => customType === 'todo-plan');

verifies('O17', 'a plan set by a client reaches the model once, and again when it changes', async ({ open }) => {
  const wait = { text: 'What next?' };
  const { peer } = await open({ script: [wait, wait, wait] });
  await peer.ok({ type: 'set_todos', phases });

  await peer.run('first');
  await peer.run('second');
  const before = announced((await peer.ok({ type: 'get_messages' })).messages);
  await peer.ok({ type: 'set_todos', phases: [{ name: 'All', tasks: [{ content: 'Do that', status: 'pending' }] }] });
  await peer.run('third');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(before).toMatchObject([{ display: false, content: expect.stringContaining('task-1: Do it') }]);
  expect(announced(messages).at(-1)).toMatchObject({ content: expect.stringContaining('task-1: Do that') });
  expect(announced(messages)).toHaveLength(2);
});

verifies('O17', 'a plan made by the model itself is not announced to it', async ({ open }) => {
  const ops = [{ op: 'replace', phases: [{ name: 'Mine', tasks: [{ content: 'Do it' }] }] }];
  const { peer } = await open({
    args: ['--tools', '+todo'],
    script: [{ steps: [{ toolCall: { name: 'todo', arguments: { ops } } }] }, { text: 'Shall I?' }, { text: 'Well?' }],
  });

  await peer.run('plan');
  await peer.run('go on');

  expect(announced((await peer.ok({ type: 'get_messages' })).messages)).toEqual([]);
});
