import { expect, it } from 'vitest';
import { allUiRequests, bash, homeWithCommands, fixture, nextUiRequest } from '../../support/agent/extensions.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { startServer, type TestServer } from '../../support/server/test-server.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];

const interviewed = () => startServer({ script: TALK, agentArgs: ['-e', fixture('dialogs')] });

const reply = (peer: RemotePeer, id: string, words: object) =>
  peer.send({ type: 'extension_ui_response', id, ...words });

/** Two clients of one session. */
async function couple(server: TestServer, more: Record<string, string | number> = {}) {
  const first = await server.attach();
  return [first, await server.attach({ session: first.cursor.session, ...more })] as const;
}

it('[W8] every kind of dialog works over the socket', async () => {
  const server = await interviewed();
  const peer = await server.attach();
  await peer.ok({ type: 'prompt', message: '/interview now' });

  for (const [method, words] of [
    ['select', { value: 'red' }],
    ['confirm', { confirmed: true }],
    ['input', { value: 'me' }],
    ['editor', { cancelled: true }],
  ] as const) {
    reply(peer, (await nextUiRequest(peer, method)).id, words);
  }

  const { message } = await nextUiRequest(peer, 'notify');
  expect(JSON.parse(message)).toEqual({ args: 'now', colour: 'red', sure: true, name: 'me', text: null });
});

it('[W34] a dialog goes to everybody, the first answer counts, and the others are told', async () => {
  const server = await interviewed();
  const [first, second] = await couple(server);
  await first.ok({ type: 'prompt', message: '/interview' });
  const { id, options } = await nextUiRequest(first, 'select');
  expect(await nextUiRequest(second, 'select')).toMatchObject({ id, options });

  reply(second, id, { value: 'green' });
  expect(await first.next('extension_ui_resolved')).toMatchObject({ id, by: 'client' });
  reply(first, id, { value: 'red' });

  expect(await nextUiRequest(first, 'confirm')).toMatchObject({ message: 'You said green' });
  await nextUiRequest(second, 'confirm');
});

it('[W34] it is shown again to one who attaches, with what extensions keep on the screen', async () => {
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
  reply(late, id, { value: 'late' });
  expect(await nextUiRequest(first, 'notify')).toMatchObject({ message: '"late"' });
  const later = await server.attach({ session: first.cursor.session });
  await later.ok({ type: 'get_state' });
  expect(allUiRequests(later, 'input')).toEqual([]);
});

it('[W34 W84] a dialog outlives all clients, and waits for the next', async () => {
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
  const { sessions } = await other.ok({ type: 'list_sessions' });
  expect(sessions).toMatchObject([{ id: first.cursor.session, status: 'waiting' }]);

  const second = await server.attach({ session: first.cursor.session });
  expect(await nextUiRequest(second, 'confirm')).toMatchObject({ id });
  reply(second, id, { confirmed: true });

  expect(await second.next('tool_execution_end')).toMatchObject({ isError: false });
  expect(await second.next('agent_settled')).toMatchObject({ outcome: 'ok' });
});

it('[W34] it goes only to those who can show it; where nobody can, it has no answer', async () => {
  const server = await interviewed();
  const [first, second] = await couple(server, { ui: 'notify' });
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

it('[W84] who may only look on is not asked, and cannot answer', async () => {
  const viewer = { name: 'Viewer', scopes: ['view'], allowedPaths: ['/'] };
  const server = await startServer({
    script: TALK,
    agentArgs: ['-e', fixture('dialogs')],
    tokens: { 'token-of-a-viewer': viewer },
  });
  const [owner, watcher] = await couple(server, { token: 'token-of-a-viewer' });
  await owner.ok({ type: 'prompt', message: '/interview' });
  const { id } = await nextUiRequest(owner, 'select');

  reply(watcher, id, { value: 'red' });
  await watcher.ok({ type: 'get_state' });
  expect(allUiRequests(watcher, 'select')).toEqual([]);
  reply(owner, id, { value: 'green' });

  expect(await nextUiRequest(owner, 'confirm')).toMatchObject({ message: 'You said green' });
  expect(await watcher.next('extension_ui_resolved')).toMatchObject({ id });
});

it('[W34] a dialog that runs out is over for everybody', async () => {
  const server = await startServer({
    script: [bash('rm -rf nothing'), { text: 'Done.' }],
    agentArgs: ['-e', fixture('tool-call-gate')],
    env: { GATE_MS: '50' },
  });
  const [first, second] = await couple(server);
  await first.ok({ type: 'prompt', message: 'Hi' });

  for (const peer of [first, second]) {
    const { id } = await nextUiRequest(peer, 'confirm');
    expect(await peer.next('extension_ui_resolved')).toMatchObject({ id, by: 'timeout' });
    await peer.next('agent_settled');
  }
});
