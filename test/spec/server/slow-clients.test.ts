import { expect, it } from 'vitest';
import { emptyView, reduce } from '../../../src/client/view/view.ts';
import type { AgentEvent } from '../../../src/index.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { startServer } from '../../support/server/test-server.ts';

const DELTAS = { stream: 'delta', legacyNames: 0 };
const settings = { compaction: { enabled: false } };

/** A run says four times as much. */
const MEGABYTE = 'x'.repeat(1024 * 1024);

/** Runs whose records are more than the system keeps for a socket that nobody reads, and the server for a client. */
const MANY = 10;

it('[W33] a client that stops reading is sent away, the others hear everything, and it may come back', async () => {
  const server = await startServer({ settings, script: [{ text: MEGABYTE, chunks: 50, when: '.', keep: true }] });
  const reader = await server.attach(DELTAS);
  const stalled = await server.attach({ session: reader.cursor.session, ...DELTAS });
  const other = await server.attach({ session: reader.cursor.session, ...DELTAS });
  stalled.socket.pause();

  for (let runs = 1; runs <= MANY; runs++) await reader.run('Hi');
  stalled.socket.resume();

  expect(await stalled.ended).toEqual({ code: 4408, reason: 'The client reads too slowly' });
  expect(stalled.records.at(-1)).toMatchObject({ type: 'server_disconnected', reason: 'timeout', code: 4408 });
  const back = await server.attach({ ...stalled.cursor, ...DELTAS });
  await reader.run('Bye');
  await back.next('agent_settled');
  for (let runs = 1; runs <= MANY + 1; runs++) await other.next('agent_settled');
  expect(viewOf(reader).messages).toHaveLength(2 * (MANY + 1));
  expect(viewOf(other)).toEqual(viewOf(reader));
  expect(viewOf(stalled, back)).toEqual(viewOf(reader));
});

it('[W33] a client that was behind for a moment misses nothing', async () => {
  const server = await startServer({ settings, script: [{ text: `${'x'.repeat(99)} `, times: 20_000 }] });
  const reader = await server.attach(DELTAS);
  const slow = await server.attach({ session: reader.cursor.session, ...DELTAS });
  slow.socket.pause();
  await reader.run('Hi');
  slow.socket.resume();
  await slow.next('agent_settled');

  expect(viewOf(slow)).toEqual(viewOf(reader));
});

it('[W33] one that leaves its own answers unread is not read any more until it has read them', async () => {
  const server = await startServer({ settings, script: [{ text: 'x'.repeat(8_000_000) }, { text: 'Done.' }] });
  const reader = await server.attach(DELTAS);
  await reader.run('Hi');
  const slow = await server.attach({ session: reader.cursor.session, ...DELTAS });
  slow.socket.pause();
  for (let asked = 1; asked <= 8; asked++) slow.send({ id: asked, type: 'get_messages' });
  for (let asked = 1; asked <= 20; asked++) slow.send({ id: `state ${asked}`, type: 'get_state' });
  await reader.run('And?');
  slow.socket.resume();

  expect(await slow.find(({ id }) => id === 'state 20')).toMatchObject({ success: true });
  slow.send({ id: 'last', type: 'get_state' });
  expect(await slow.find(({ id }) => id === 'last')).toMatchObject({ success: true });
  await slow.next('agent_settled');
});

const viewOf = (...peers: readonly RemotePeer[]) =>
  peers
    .flatMap(({ records }) => records)
    .reduce((view, record) => reduce(view, record as unknown as AgentEvent), emptyView);
