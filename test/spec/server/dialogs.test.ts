import { expect, it } from 'vitest';
import { allUiRequests, bash, fixture, homeWithCommands, nextUiRequest } from '../../support/agent/extensions.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { startServer, type TestServer } from '../../support/server/test-server.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];

const startDialogServer = () => startServer({ script: TALK, agentArgs: ['-e', fixture('dialogs')] });

const respond = (peer: RemotePeer, id: string, fields: object) =>
  peer.send({ type: 'extension_ui_response', id, ...fields });

/** Attaches two clients to one session. */
async function attachTwo(server: TestServer, more: Record<string, string | number> = {}) {
  const first = await server.attach();
  return [first, await server.attach({ session: first.cursor.session, ...more })] as const;
}

it('[W8] every kind of dialog works over a WebSocket', async () => {
  const server = await startDialogServer();
  const peer = await server.attach();
  await peer.ok({ type: 'prompt', message: '/interview now' });

  for (const [method, fields] of [
    ['select', { value: 'red' }],
    ['confirm', { confirmed: true }],
    ['input', { value: 'me' }],
    ['editor', { cancelled: true }],
  ] as const) {
    respond(peer, (await nextUiRequest(peer, method)).id, fields);
  }

  const { message } = await nextUiRequest(peer, 'notify');
  expect(JSON.parse(message)).toEqual({ args: 'now', colour: 'red', sure: true, name: 'me', text: null });
});

it('[W34] a dialog is sent to all clients, the first response counts, and the others get the resolution', async () => {
  const server = await startDialogServer();
  const [first, second] = await attachTwo(server);
  await first.ok({ type: 'prompt', message: '/interview' });
  const { id, options } = await nextUiRequest(first, 'select');
  expect(await nextUiRequest(second, 'select')).toMatchObject({ id, options });

  respond(second, id, { value: 'green' });
  expect(await first.next('extension_ui_resolved')).toMatchObject({ id, by: 'client' });
  respond(first, id, { value: 'red' });

  expect(await nextUiRequest(first, 'confirm')).toMatchObject({ message: 'You said green' });
  await nextUiRequest(second, 'confirm');
});

it('[W34] an open dialog, statuses and widgets are sent again to a client that attaches', async () => {
  const { home } = homeWithCommands({
    ask: "ctx.ui.setStatus('s', 'on'); ctx.ui.setStatus('gone', 'x'); ctx.ui.setStatus('gone', undefined); ctx.ui.setWidget('w', ['line']); tell(ctx, await ctx.ui.input('Name?'));",
  });
  const server = await startServer({ home, script: TALK });
  const first = await server.attach();
  await first.ok({ type: 'prompt', message: '/ask' });
  const { id } = await nextUiRequest(first, 'input');

  const late = await server.attach({ session: first.cursor.session });

  expect(await nextUiRequest(late, 'setStatus')).toMatchObject({ statusKey: 's', statusText: 'on' });
  expect(await nextUiRequest(late, 'setWidget')).toMatchObject({ widgetKey: 'w', widgetLines: ['line'] });
  expect(await nextUiRequest(late, 'input')).toMatchObject({ id });
  respond(late, id, { value: 'late' });
  expect(await nextUiRequest(first, 'notify')).toMatchObject({ message: '"late"' });
  const later = await server.attach({ session: first.cursor.session });
  await later.ok({ type: 'get_state' });
  expect(allUiRequests(later, 'input')).toEqual([]);
});

it('[W34 W84] a dialog outlives all clients and waits for the next', async () => {
  const server = await startServer({
    script: [bash('rm -rf nothing'), { text: 'Done.' }],
    agentArgs: ['-e', fixture('tool-call-gate')],
    args: ['--park-after', '0'],
  });
  const first = await server.attach();
  await first.ok({ type: 'prompt', message: 'Hi' });
  const { id } = await nextUiRequest(first, 'confirm');
  first.socket.terminate();
  await first.ended;
  const other = await server.attach();
  await expect
    .poll(async () => (await other.ok({ type: 'list_sessions' })).sessions)
    .toMatchObject([{ id: first.cursor.session, status: 'waiting' }]);

  const second = await server.attach({ session: first.cursor.session });
  expect(await nextUiRequest(second, 'confirm')).toMatchObject({ id });
  respond(second, id, { confirmed: true });

  expect(await second.next('tool_execution_end')).toMatchObject({ isError: false });
  expect(await second.next('agent_settled')).toMatchObject({ outcome: 'ok' });
});

it('[W34] a dialog is sent only to clients that support it, and resolves when none does', async () => {
  const server = await startDialogServer();
  const [first, second] = await attachTwo(server, { ui: 'notify' });
  await first.ok({ type: 'prompt', message: '/interview' });
  const { id } = await nextUiRequest(first, 'select');
  await second.ok({ type: 'get_state' });
  expect(allUiRequests(second, 'select')).toEqual([]);

  await second.ok({ type: 'hello', ui: [] });
  await first.ok({ type: 'hello', ui: [] });

  expect(await first.next('extension_ui_resolved')).toMatchObject({ id, by: 'nobody' });
  await first.ok({ type: 'hello', ui: ['notify', 'select'] });
  expect((await first.ok({ type: 'get_state' })).pendingUi).toEqual([]);
  await first.ok({ type: 'prompt', message: '/interview' });
  await nextUiRequest(first, 'select');
});

it('[W84] a client without the prompt scope gets no dialog and cannot answer one', async () => {
  const viewer = { name: 'Viewer', scopes: ['view'], allowedPaths: ['/'] };
  const server = await startServer({
    script: TALK,
    agentArgs: ['-e', fixture('dialogs')],
    tokens: { 'token-of-a-viewer': viewer },
  });
  const [owner, watcher] = await attachTwo(server, { token: 'token-of-a-viewer' });
  await owner.ok({ type: 'prompt', message: '/interview' });
  const { id } = await nextUiRequest(owner, 'select');

  respond(watcher, id, { value: 'red' });
  await watcher.ok({ type: 'get_state' });
  expect(allUiRequests(watcher, 'select')).toEqual([]);
  respond(owner, id, { value: 'green' });

  expect(await nextUiRequest(owner, 'confirm')).toMatchObject({ message: 'You said green' });
  expect(await watcher.next('extension_ui_resolved')).toMatchObject({ id });
});

it('[W34] a dialog that times out resolves for all clients', async () => {
  const server = await startServer({
    script: [bash('rm -rf nothing'), { text: 'Done.' }],
    agentArgs: ['-e', fixture('tool-call-gate')],
    env: { GATE_MS: '50' },
  });
  const [first, second] = await attachTwo(server);
  await first.ok({ type: 'prompt', message: 'Hi' });

  for (const peer of [first, second]) {
    const { id } = await nextUiRequest(peer, 'confirm');
    expect(await peer.next('extension_ui_resolved')).toMatchObject({ id, by: 'timeout' });
    await peer.next('agent_settled');
  }
});
