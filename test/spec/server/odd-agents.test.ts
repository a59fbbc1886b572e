import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { interceptingAgentArgs } from '../../support/server/intercepting-agent.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import { waitUntil } from '../../support/processes/processes.ts';
import { RemotePeer } from '../../support/clients/remote-peer.ts';
import { type ConnectQuery, startServer, type TestServer, OWNER_TOKEN } from '../../support/server/test-server.ts';
import { header, storeSession } from '../../support/sessions/stored-session.ts';

const TALK = { script: [{ text: 'Hello there.', when: '.', keep: true }] };

/** What no agent should say. */
const GARBAGE = [
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

/** A client that takes whatever comes. */
function trusting({ url }: TestServer, query: ConnectQuery = {}): RemotePeer {
  const address = new URL(url);
  for (const [name, value] of Object.entries({ token: OWNER_TOKEN, ...query })) address.searchParams.set(name, String(value));
  return new RemotePeer(address.href, { hasForeignFields: true });
}

it('[W92] whatever an agent prints, the server goes on, and so do other sessions and its own', async () => {
  const home = newHome();
  const garbage = JSON.stringify(GARBAGE);
  const meddle = `if (request.type === 'set_session_name') for (const line of ${garbage}) say(line);`;
  const server = await startServer({ home, args: interceptingAgentArgs(home, meddle, TALK) });
  const peer = trusting(server, { stream: 'delta', legacyNames: 0 });
  await peer.next('state_synced');
  const looker = trusting(server, { session: peer.cursor.session });
  await looker.next('state_synced');
  const other = await server.attach();
  await peer.run('Hi');
  const { cursor } = peer;

  await peer.ok({ type: 'set_session_name', name: 'odd' });
  await Promise.all([peer, looker, other].map((one) => one.ok({ type: 'get_state' })));

  await other.run('Hi');
  const back = trusting(server, { ...cursor, stream: 'delta', legacyNames: 0 });
  expect(await back.next('server_connected')).toMatchObject({ resume: 'ok' });
  await peer.run('And?');
  for (const one of [back, looker]) await one.next(({ type, outcome }) => type === 'agent_settled' && outcome === 'ok');
  const late = await server.attach({ session: cursor.session });
  expect(await late.ok({ type: 'get_state' })).toMatchObject({ messageCount: 4 });
});

it('[W92] an answer that lacks what belongs to it is passed on, and ends nothing', async () => {
  const home = newHome();
  const meddle = `if (request.type === 'prompt' && request.message === 'odd') {
    answer(request, { success: true });
    return true;
  }`;
  const server = await startServer({ home, args: interceptingAgentArgs(home, meddle, TALK) });
  const peer = trusting(server);
  await peer.next('state_synced');
  const other = await server.attach({ session: peer.cursor.session });
  peer.send({ type: 'prompt', id: 'odd', message: 'odd' });

  await peer.run('Hi');
  await other.run('Hi');
  await other.ok({ type: 'get_state' });
});

it('[W92] an export onto a link is answered, and nobody is sent away', async () => {
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

it('[W92] a session whose id is no text that can be sent keeps nobody from working', async () => {
  const home = newHome();
  const session = storeSession(home, [header(home.cwd, { id: '\ud800x' })], { name: 'odd.jsonl' });
  const server = await startServer({ home, ...TALK });
  const other = await server.attach();

  const peer = server.connect({ session });
  const came = await Promise.race([peer.next('state_synced'), peer.ended]);
  if (came.type === 'state_synced') await peer.run('Hi');

  await other.run('Hi');
});

it('[W20 W92] an agent that does not tell its state is given up with 1011', async () => {
  const home = newHome();
  const meddle = `if (request.type === 'get_state') {
    answer(request, { success: false, error: 'no' });
    return true;
  }`;
  const server = await startServer({ home, args: interceptingAgentArgs(home, meddle, TALK) });

  const reason = 'Failed to spawn Pi process: it does not tell its state';
  expect(await server.connect().ended).toEqual({ code: 1011, reason });
});

it('[W94] an agent that cannot be started is in the log', async () => {
  const home = newHome();
  const path = join(home.root, 'server.log');
  const server = await startServer({ home, args: ['--agent-command', 'no-such-program', '--log-file', path] });

  await server.connect().ended;

  expect(readFileSync(path, 'utf8')).toMatch(/agent did not start.*command not found/);
});

it('[W53] an agent that does not come back the first time is tried again', async () => {
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

it('[W53] one that never comes back is given up, and its clients are closed with 1011', async () => {
  const home = newHome();
  const gate = newGate();
  const start = `if (existsSync('${gate.path}')) process.exit(1);`;
  const server = await startServer({ home, args: interceptingAgentArgs(home, DIE, { ...TALK, start }) });
  const peer = await server.attach();
  gate.open();

  peer.send({ type: 'set_session_name', name: 'die' });

  expect(await peer.ended).toEqual({ code: 1011, reason: 'Pi process terminated' });
});

it('[W56] one that nobody needs while it comes back is let go, and not tried again', async () => {
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
  await waitUntil(async () => {
    const { sessions } = await other.ok({ type: 'list_sessions' });
    return sessions.every(({ id, status }: { id: string; status?: string }) => id !== session || status === undefined);
  });
  rmSync(gate.path);
  const back = await server.attach({ session });

  expect(await back.ok({ type: 'get_state' })).toMatchObject({ sessionId: session, messageCount: 2 });
  expect(readFileSync(list, 'utf8')).toBe('xxxx');
});

const DIE = "if (request.type === 'set_session_name') { tau.kill('SIGKILL'); return true; }";
