import { expect } from 'vitest';
import { MAX_WAITING_COMMANDS } from '../../../src/engine/session-lane.ts';
import { newGate, readSessionFile } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

type Command = { type: string } & Record<string, unknown>;

/** Sends numbered commands in one write and returns their numbers in the order of the responses. */
async function responseOrder(peer: Peer, commands: readonly Command[]): Promise<unknown[]> {
  const ids = new Set(commands.keys());
  peer.send(commands.map((command, id) => `${JSON.stringify({ id, ...command })}\n`).join(''));
  const order: unknown[] = [];
  while (order.length < commands.length) {
    const { id } = await peer.next((record) => record.type === 'response' && ids.has(Number(record['id'])));
    order.push(id);
  }
  return order;
}

const name = (text: string): Command => ({ type: 'set_session_name', name: text });

verifies('C17', 'abort gets its response before the running session command and waiting ones', async ({ open }) => {
  const { peer } = await open();
  const waiting = Array.from({ length: 20 }, (_, index) => name(`name ${index}`));

  const order = await responseOrder(peer, [{ type: 'clone' }, ...waiting, { type: 'abort' }]);

  const abort = waiting.length + 1;
  expect(order).toEqual([abort, ...Array.from({ length: abort }, (_, index) => index)]);
});

verifies('C17', 'abort stops a run while a session command is in progress', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ text: 'so far' }, { await: gate.path }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  await responseOrder(peer, [{ type: 'clone', detached: true }, name('waits'), { type: 'abort' }]);

  expect(await peer.find('agent_settled')).toMatchObject({ outcome: 'aborted' });
});

verifies('C18', 'read commands do not wait for a session command in progress', async ({ open }) => {
  const { peer } = await open();
  const { sessionId } = await peer.ok({ type: 'get_state' });

  const order = await responseOrder(peer, [
    { type: 'new_session' },
    name('new'),
    { type: 'get_state' },
    { type: 'get_tree' },
  ]);

  expect(order).toEqual([2, 3, 0, 1]);
  const early = peer.records.findLast(({ type, command }) => type === 'response' && command === 'get_state');
  expect(early).toMatchObject({ data: { sessionId } });
});

verifies('C18', 'read commands get their response during a run', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ await: gate.path }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });

  const state = await peer.ok({ type: 'get_state' });
  const { messages } = await peer.ok({ type: 'get_messages' });

  expect(state).toMatchObject({ isStreaming: true, isIdle: false });
  expect(messages).toMatchObject([{ role: 'user' }]);
});

verifies('C19', 'session commands are handled one after another, in the order of arrival', async ({ open }) => {
  const { peer, sessionFiles } = await open();
  await peer.run('hello');
  const commands = [
    name('first'),
    { type: 'clone' },
    name('second'),
    { type: 'set_thinking_level', level: 'low' },
    { type: 'new_session' },
    { type: 'set_thinking_level', level: 'high' },
    name('third'),
    { type: 'nonsense' },
    { type: 'new_session', detached: true },
    name('last'),
  ];

  const order = await responseOrder(peer, commands);

  expect(order).toEqual([0, 7, 1, 2, 3, 4, 5, 6, 8, 9]);
  const names = sessionFiles().map((file) => readSessionFile(file).flatMap((entry) => entry.name ?? []));
  expect(names.sort()).toEqual([[], ['first'], ['first', 'second'], ['third', 'last']]);
});

verifies('C20', 'a session command sent after an abort waits for it; a read command does not', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ text: 'so far' }, { await: gate.path }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });

  const order = await responseOrder(peer, [{ type: 'abort' }, name('after'), { type: 'get_state' }]);

  expect(order).toEqual([2, 0, 1]);
  const types = peer.records.map(({ type, command }) => (type === 'response' ? `answer to ${command}` : type));
  const named = types.indexOf('session_info_changed');
  expect(types.indexOf('agent_settled')).toBeLessThan(types.indexOf('answer to abort'));
  expect(types.indexOf('answer to abort')).toBeLessThan(named);
});

verifies('C20', 'a prompt sent right after an abort opens a run of its own', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ steps: [{ text: 'so far' }, { await: gate.path }] }, { text: 'new answer' }],
  });
  await peer.ok({ type: 'prompt', message: 'first' });
  await peer.next('message_update');

  const order = await responseOrder(peer, [{ type: 'abort' }, { type: 'prompt', message: 'second' }]);

  expect(order).toEqual([0, 1]);
  const settled = [await peer.find('agent_settled'), await peer.next('agent_settled')];
  expect(settled.map(({ outcome }) => outcome)).toEqual(['aborted', 'ok']);
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'new answer' });
});

// Only over the memory transport do all lines of one write arrive at once.
verifies(
  'C23',
  'one command above the limit of the lane is rejected, and the others run',
  async ({ open }) => {
    const { peer } = await open();
    const waiting: Command[] = Array.from({ length: MAX_WAITING_COMMANDS }, (_, index) => ({
      type: 'set_steering_mode',
      mode: index % 2 ? 'all' : 'one-at-a-time',
    }));
    const commands = [{ type: 'new_session' }, ...waiting, name('one too many'), { type: 'get_state' }];

    const order = await responseOrder(peer, commands);

    const refused = waiting.length + 1;
    expect(order).toEqual([refused, refused + 1, ...Array.from({ length: refused }, (_, index) => index)]);
    expect(await peer.find(({ id }) => id === refused)).toEqual({
      id: refused,
      type: 'response',
      command: 'set_session_name',
      success: false,
      error: 'Too many commands are waiting',
      code: 'overloaded',
    });
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ steeringMode: 'all' });
    await peer.ok(name('there is room again'));
  },
  ['memory'],
);
