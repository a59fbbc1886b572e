import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import { RemotePeer } from '../../support/clients/remote-peer.ts';
import { waitUntil } from '../../support/processes/processes.ts';
import { interceptingAgentArgs } from '../../support/server/intercepting-agent.ts';
import { type ConnectQuery, OWNER_TOKEN, startServer, type TestServer } from '../../support/server/test-server.ts';
import { header, storeSession } from '../../support/sessions/stored-session.ts';

const TALK = { script: [{ text: 'Hello there.', when: '.', keep: true }] };

/** Malformed output of an agent. */
const MALFORMED_OUTPUT = [
  '{"type":"entry_appended"}',
  '{"type":"message_update"}',
  '{"type":"message_update","assistantMessageEvent":null}',
  '{"type":"message_end"}',
  '{"type":"tool_execution_update"}',
  '{"type":"extension_ui_request"}',
  '{"type":"queue_update"}',
  '{"type":"state_changed"}',
  '{"type":"host_tool_call"}',
  '{"type":"response"}',
  '{"type":"response","id":"1"}',
  '{"type":5}',
  '{"type":null}',
  '[]',
  '5',
  '"',
  'x'.repeat(1_000_000),
];

/** Connects a client that accepts invalid records. */
function connectLenient({ url }: TestServer, query: ConnectQuery = {}): RemotePeer {
  const address = new URL(url);
  for (const [name, value] of Object.entries({ token: OWNER_TOKEN, ...query }))
    address.searchParams.set(name, String(value));
  return new RemotePeer(address.href, { hasForeignFields: true });
}

it('[W92] malformed agent output affects neither the server nor any session', async () => {
  const home = newHome();
  const malformedOutput = JSON.stringify(MALFORMED_OUTPUT);
  const intercept = `if (request.type === 'set_session_name') for (const line of ${malformedOutput}) say(line);`;
  const server = await startServer({ home, args: interceptingAgentArgs(home, intercept, TALK) });
  const peer = connectLenient(server, { stream: 'delta', legacyNames: 0 });
  await peer.next('state_synced');
  const watcher = connectLenient(server, { session: peer.cursor.session });
  await watcher.next('state_synced');
  const other = await server.attach();
  await peer.run('Hi');
  const { cursor } = peer;

  await peer.ok({ type: 'set_session_name', name: 'odd' });
  await Promise.all([peer, watcher, other].map((connected) => connected.ok({ type: 'get_state' })));

  await other.run('Hi');
  const resumed = connectLenient(server, { ...cursor, stream: 'delta', legacyNames: 0 });
  expect(await resumed.next('server_connected')).toMatchObject({ resume: 'ok' });
  await peer.run('And?');
  for (const connected of [resumed, watcher])
    await connected.next(({ type, outcome }) => type === 'agent_settled' && outcome === 'ok');
  const late = await server.attach({ session: cursor.session });
  expect(await late.ok({ type: 'get_state' })).toMatchObject({ messageCount: 4 });
});

it('[W92] a response without its required fields is forwarded and has no other effect', async () => {
  const home = newHome();
  const intercept = `if (request.type === 'prompt' && request.message === 'odd') {
    answer(request, { success: true });
    return true;
  }`;
  const server = await startServer({ home, args: interceptingAgentArgs(home, intercept, TALK) });
  const peer = connectLenient(server);
  await peer.next('state_synced');
  const other = await server.attach({ session: peer.cursor.session });
  peer.send({ type: 'prompt', id: 'odd', message: 'odd' });

  await peer.run('Hi');
  await other.run('Hi');
  await other.ok({ type: 'get_state' });
});

it('[W92] a failing export is answered, and no client is disconnected', async () => {
  const server = await startServer(TALK);
  const peer = await server.attach();
  await peer.run('Hi');
  const other = await server.attach({ session: peer.cursor.session });
  const [target, link] = [join(server.home.cwd, 'target.html'), join(server.home.cwd, 'link.html')];
  writeFileSync(target, '');
  symlinkSync(target, link);

  for (const outputPath of [link, join(server.home.cwd, 'no', 'such', 'folder.html'), '~/home.html'])
    expect(await peer.request({ type: 'export_html', outputPath })).toMatchObject({ success: expect.any(Boolean) });

  await peer.ok({ type: 'get_state' });
  await other.ok({ type: 'get_state' });
});

it('[W92] a session id that is not valid Unicode does not affect other sessions', async () => {
  const home = newHome();
  const session = storeSession(home, [header(home.cwd, { id: '\ud800x' })], { name: 'odd.jsonl' });
  const server = await startServer({ home, ...TALK });
  const other = await server.attach();

  const peer = server.connect({ session });
  const outcome = await Promise.race([peer.next('state_synced'), peer.ended]);
  if (outcome.type === 'state_synced') await peer.run('Hi');

  await other.run('Hi');
});

it('[W20 W92] an agent that does not return its state is given up with 1011', async () => {
  const home = newHome();
  const intercept = `if (request.type === 'get_state') {
    answer(request, { success: false, error: 'no' });
    return true;
  }`;
  const server = await startServer({ home, args: interceptingAgentArgs(home, intercept, TALK) });

  const reason = 'Failed to spawn Pi process: it does not send its state';
  expect(await server.connect().ended).toEqual({ code: 1011, reason });
});

it('[W94] an agent that cannot be started is logged', async () => {
  const home = newHome();
  const path = join(home.root, 'server.log');
  const server = await startServer({ home, args: ['--agent-command', 'no-such-program', '--log-file', path] });

  await server.connect().ended;

  expect(readFileSync(path, 'utf8')).toMatch(/agent did not start.*command not found/);
});

it('[W53] an agent whose first restart fails is restarted again', async () => {
  const home = newHome();
  const gate = newGate();
  const start = `if (existsSync('${gate.path}')) { rmSync('${gate.path}'); process.exit(1); }`;
  const server = await startServer({ home, args: interceptingAgentArgs(home, DIE, { ...TALK, start }) });
  const peer = await server.attach();
  await peer.run('Hi');
  gate.open();

  peer.send({ type: 'set_session_name', name: 'die' });

  expect(await peer.next('state_synced')).toMatchObject({ state: { messageCount: 2 } });
  await peer.run('And?');
});

it('[W53] an agent whose restarts all fail is given up, and its clients are closed with 1011', async () => {
  const home = newHome();
  const gate = newGate();
  const start = `if (existsSync('${gate.path}')) process.exit(1);`;
  const server = await startServer({ home, args: interceptingAgentArgs(home, DIE, { ...TALK, start }) });
  const peer = await server.attach();
  gate.open();

  peer.send({ type: 'set_session_name', name: 'die' });

  expect(await peer.ended).toEqual({ code: 1011, reason: 'Pi process terminated' });
});

it('[W56] a restarting agent without clients is released and not restarted again', async () => {
  const home = newHome();
  const gate = newGate();
  const list = join(home.root, 'starts');
  const start = `appendFileSync('${list}', 'x');
    if (existsSync('${gate.path}')) await new Promise(() => process.stdin.resume().on('end', () => process.exit(1)));`;
  const args = [...interceptingAgentArgs(home, DIE, { ...TALK, start }), '--park-after', '0'];
  const server = await startServer({ home, args });
  const other = await server.attach();
  const peer = await server.attach();
  await peer.run('Hi');
  const { session } = peer.cursor;
  gate.open();
  peer.send({ type: 'set_session_name', name: 'die' });
  await waitUntil(async () => readFileSync(list, 'utf8') === 'xxx');

  await peer.disconnect();
  await expect
    .poll(async () => (await other.ok({ type: 'list_sessions' })).sessions)
    .not.toContainEqual(expect.objectContaining({ id: session, status: expect.any(String) }));
  rmSync(gate.path);
  const resumed = await server.attach({ session });

  expect(await resumed.ok({ type: 'get_state' })).toMatchObject({ sessionId: session, messageCount: 2 });
  expect(readFileSync(list, 'utf8')).toBe('xxxx');
});

const DIE = "if (request.type === 'set_session_name') { tau.kill('SIGKILL'); return true; }";

it.each(['get_state', 'get_messages'])(
  '[W111] a client is closed if its agent responds to %s with half a line',
  async (type) => {
    const home = newHome();
    const start = '{"id":"\'+request.id+\'","type":"response","command":"\'+request.type+\'","success":true,"data":{';
    const intercept = `if (request.type === '${type}') { say('${start}'); return true; }`;
    const server = await startServer({ home, args: interceptingAgentArgs(home, intercept, TALK) });

    expect(await server.connect().ended).toMatchObject({ code: 1011 });
  },
);
