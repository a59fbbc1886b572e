import { expect, it } from 'vitest';
import { emptyView, reduce } from '../../../src/client/view/view.ts';
import type { AgentEvent } from '../../../src/index.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { startServer } from '../../support/server/test-server.ts';

const DELTAS = { stream: 'delta', legacyNames: 0 };
const settings = { compaction: { enabled: false } };

// A run sends four times as much.
const MEGABYTE = 'x'.repeat(1024 * 1024);

// Enough runs to exceed the socket buffers and the event queue of a client.
const RUN_COUNT = 10;

it('[W33] a client that stops reading is disconnected, the others get every event, and it may resume', async () => {
  // By the reported usage the context is never full.
  const steps = [{ text: MEGABYTE, chunks: 50 }, { usage: { input: 1, output: 1 } }];
  const server = await startServer({ settings, script: [{ steps, when: '.', keep: true }] });
  const reader = await server.attach(DELTAS);
  const stalled = await server.attach({ session: reader.cursor.session, ...DELTAS });
  const other = await server.attach({ session: reader.cursor.session, ...DELTAS });
  stalled.socket.pause();

  for (let runs = 1; runs <= RUN_COUNT; runs++) await reader.run('Hi');
  stalled.socket.resume();

  expect(await stalled.ended).toEqual({ code: 4408, reason: 'The client reads too slowly' });
  expect(stalled.records.at(-1)).toMatchObject({ type: 'server_disconnected', reason: 'timeout', code: 4408 });
  const resumed = await server.attach({ ...stalled.cursor, ...DELTAS });
  await reader.run('Bye');
  await resumed.next('agent_settled');
  for (let runs = 1; runs <= RUN_COUNT + 1; runs++) await other.next('agent_settled');
  expect(viewOf(reader).messages).toHaveLength(2 * (RUN_COUNT + 1));
  expect(viewOf(other)).toEqual(viewOf(reader));
  expect(viewOf(stalled, resumed)).toEqual(viewOf(reader));
});

it('[W33] a client that pauses reading briefly misses no event', async () => {
  const server = await startServer({ settings, script: [{ text: `${'x'.repeat(99)} `, times: 20_000 }] });
  const reader = await server.attach(DELTAS);
  const slow = await server.attach({ session: reader.cursor.session, ...DELTAS });
  slow.socket.pause();
  await reader.run('Hi');
  slow.socket.resume();
  await slow.next('agent_settled');

  expect(viewOf(slow)).toEqual(viewOf(reader));
});

it('[W33] commands of a client that does not read its responses are delayed, not lost', async () => {
  const server = await startServer({ settings, script: [{ text: 'x'.repeat(8_000_000) }, { text: 'Done.' }] });
  const reader = await server.attach(DELTAS);
  await reader.run('Hi');
  const slow = await server.attach({ session: reader.cursor.session, ...DELTAS });
  slow.socket.pause();
  for (let requests = 1; requests <= 8; requests++) slow.send({ id: requests, type: 'get_messages' });
  for (let requests = 1; requests <= 20; requests++) slow.send({ id: `state ${requests}`, type: 'get_state' });
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
