import { expect } from 'vitest';
import { userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { type AgentFixture, SINGLE_CLIENT_LIMITS, verifies } from '../../support/verifies.ts';

/** Opens an agent with a held run and these messages queued for it; returns their queue ids. */
async function openHeld(open: AgentFixture['open'], commands: readonly { type: string; message: string }[]) {
  const gate = newGate();
  const { peer } = await open({
    script: [{ steps: [{ await: gate.path }, { text: 'held' }] }, { text: 'next', when: '.', keep: true }],
  });
  await peer.ok({ type: 'prompt', message: 'first' });
  await peer.next('message_update');
  const ids: string[] = [];
  for (const command of commands) ids.push((await peer.ok(command)).queueId);
  return { peer, gate, ids };
}

const updates = (peer: Peer) => peer.records.filter(({ type }) => type === 'queue_update');

const update = (...items: [id: string | undefined, kind: string, text: string][]) => ({
  type: 'queue_update',
  steering: items.filter(([, kind]) => kind === 'steer').map(([, , text]) => text),
  followUp: items.filter(([, kind]) => kind === 'followUp').map(([, , text]) => text),
  items: items.map(([id, kind, text]) => ({ id, kind, text })),
});

const steer = (message: string) => ({ type: 'steer', message });
const followUp = (message: string) => ({ type: 'follow_up', message });

verifies('Q20 Q21 Q22', 'every queue change is published with all queued messages', async ({ open }) => {
  const { peer, gate, ids } = await openHeld(open, [followUp('f'), steer('s')]);
  const [f, s] = ids;

  gate.open();
  await waitUntilSettled(peer);

  expect(updates(peer)).toEqual([
    update([f, 'followUp', 'f']),
    update([f, 'followUp', 'f'], [s, 'steer', 's']),
    update([f, 'followUp', 'f']),
    update(),
  ]);
});

verifies('Q20', 'queue_update precedes the response to the command that changed the queue', async ({ open }) => {
  const { peer, ids } = await openHeld(open, [steer('a')]);

  await peer.ok({ type: 'edit_queued', queueId: ids[0], message: 'b' });
  await peer.ok({ type: 'remove_queued', queueId: ids[0] });

  const published = peer.records.filter(
    ({ type, command }) => type === 'queue_update' || command?.toString().endsWith('queued'),
  );
  expect(published.map(({ type }) => type)).toEqual([
    'queue_update',
    'queue_update',
    'response',
    'queue_update',
    'response',
  ]);
  await peer.ok({ type: 'abort' });
});

verifies('Q23 Q24', 'remove_queued removes the named one of two messages with the same text', async ({ open }) => {
  const { peer, gate, ids } = await openHeld(open, [steer('same'), steer('same'), steer('other')]);
  const [first, second, third] = ids;
  expect(new Set(ids).size).toBe(3);

  const removed = await peer.ok({ type: 'remove_queued', queueId: second });

  expect(removed).toEqual({ text: 'same' });
  expect(updates(peer).at(-1)).toEqual(update([first, 'steer', 'same'], [third, 'steer', 'other']));
  gate.open();
  await waitUntilSettled(peer);
  expect(userTexts(peer.records)).toEqual(['first', 'same', 'other']);
});

verifies('Q23', 'a prompt with the text of a queued message leaves that message queued', async ({ open }) => {
  const { peer, ids } = await openHeld(open, [followUp('same')]);
  await peer.ok({ type: 'abort' });

  await peer.ok({ type: 'abort_and_prompt', message: 'same' });

  const responseIndex = peer.records.findIndex(({ command }) => command === 'abort_and_prompt');
  const before = peer.records.slice(0, responseIndex).filter(({ type }) => type === 'queue_update');
  expect(before).toEqual([update([ids[0], 'followUp', 'same'])]);
  await waitUntilSettled(peer);
  expect(userTexts(peer.records)).toEqual(['first', 'same', 'same']);
});

verifies('Q25', 'an edited message keeps its position, id and kind', async ({ open }) => {
  const { peer, gate, ids } = await openHeld(open, [steer('a'), steer('b'), steer('c')]);
  const [a, b, c] = ids;

  const response = await peer.request({ type: 'edit_queued', queueId: b, message: 'B' });

  expect(response).toEqual({ id: response['id'], type: 'response', command: 'edit_queued', success: true });
  expect(updates(peer).at(-1)).toEqual(update([a, 'steer', 'a'], [b, 'steer', 'B'], [c, 'steer', 'c']));
  gate.open();
  await waitUntilSettled(peer);
  expect(userTexts(peer.records)).toEqual(['first', 'a', 'B', 'c']);
});

verifies('Q25', 'editing a message to empty text is rejected', async ({ open }) => {
  const { peer, ids } = await openHeld(open, [steer('a')]);

  const refusal = await peer.refused({ type: 'edit_queued', queueId: ids[0], message: '' });

  expect(refusal).toMatchObject({ command: 'edit_queued', code: 'invalid_params' });
  expect(updates(peer)).toEqual([update([ids[0], 'steer', 'a'])]);
  await peer.ok({ type: 'abort' });
});

verifies('Q26', 'a message that is not queued can be neither removed nor edited', async ({ open }) => {
  const { peer, gate, ids } = await openHeld(open, [steer('a'), steer('b')]);
  const [a, b] = ids;
  await peer.ok({ type: 'remove_queued', queueId: a });
  gate.open();
  await waitUntilSettled(peer);
  const published = updates(peer).length;

  for (const queueId of [a, b, 'unknown']) {
    expect(await peer.refused({ type: 'remove_queued', queueId })).toMatchObject({ code: 'not_found' });
    expect(await peer.refused({ type: 'edit_queued', queueId, message: 'x' })).toMatchObject({ code: 'not_found' });
  }

  expect(updates(peer)).toHaveLength(published);
  expect(userTexts(peer.records)).toEqual(['first', 'b']);
});

verifies('Q27', 'clear_queue empties both queues while the run continues', async ({ open }) => {
  const { peer, gate } = await openHeld(open, [steer('s1'), followUp('f'), steer('s2')]);

  const cleared = await peer.ok({ type: 'clear_queue' });

  expect(cleared).toEqual({ steering: ['s1', 's2'], followUp: ['f'] });
  expect(updates(peer).at(-1)).toEqual(update());
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true, pendingMessageCount: 0 });
  gate.open();
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  expect(userTexts(peer.records)).toEqual(['first']);
});

verifies('Q27 Q20', 'clear_queue of empty queues returns empty lists and publishes no event', async ({ open }) => {
  const { peer } = await open();

  expect(await peer.ok({ type: 'clear_queue' })).toEqual({ steering: [], followUp: [] });

  expect(updates(peer)).toEqual([]);
});

verifies('Q20 Q22', 'a queue kept by an abort can be changed while the agent is idle', async ({ open }) => {
  const { peer, ids } = await openHeld(open, [followUp('a'), followUp('b')]);
  await peer.ok({ type: 'abort' });

  await peer.ok({ type: 'remove_queued', queueId: ids[0] });
  await peer.ok({ type: 'edit_queued', queueId: ids[1], message: 'B' });

  expect(updates(peer).at(-1)).toEqual(update([ids[1], 'followUp', 'B']));
  await peer.run('go');
  expect(userTexts(peer.records)).toEqual(['first', 'go', 'B']);
});

verifies(
  'Q29',
  'a full queue rejects further messages, and hello reports its size',
  async ({ open }) => {
    const { peer } = await openHeld(open, []);
    const { limits } = await peer.ok({ type: 'hello' });
    const { maxQueuedMessages } = limits;

    for (let count = 1; count < maxQueuedMessages; count++) peer.send({ type: 'follow_up', message: `${count}` });
    expect(await peer.ok({ type: 'steer', message: 'the last' })).toMatchObject({ disposition: 'queued' });

    for (const command of [
      steer('one more'),
      followUp('one more'),
      { type: 'prompt', message: 'x', streamingBehavior: 'steer' },
    ]) {
      expect(await peer.refused(command)).toMatchObject({ command: command.type, code: 'overloaded' });
    }
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingMessageCount: maxQueuedMessages });
    await peer.ok({ type: 'abort', clearQueue: true });
  },
  SINGLE_CLIENT_LIMITS,
);
