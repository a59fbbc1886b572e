import { expect, it } from 'vitest';
import { fixture } from '../../support/agent/extensions.ts';
import { hostTool } from '../../support/tools/host-tools.ts';
import { FILLER, fastRetryHome } from '../../support/agent/compaction.ts';
import { newGate, openTestAgent, sessionFiles } from '../../support/agent/test-agent.ts';
import { filterAlive, waitUntil } from '../../support/processes/processes.ts';
import { startServer, type TestServer } from '../../support/server/test-server.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];
const PARK_AT_ONCE = ['--park-after', '0'];

/** Settles when no agent of this server lives. */
const parked = (server: TestServer) =>
  waitUntil(async () => (await filterAlive(server.agents().map(({ pid }) => pid))).length === 0);

it('[W56] an idle agent that nobody hears is let go, and woken for whoever comes', async () => {
  const server = await startServer({ script: TALK, args: PARK_AT_ONCE });
  const first = await server.attach();
  await first.run('Hi');
  const { cursor } = first;
  await first.disconnect();
  await parked(server);

  const second = server.connect(cursor);
  const { messages } = await second.next('state_synced');

  expect(second.records[0]).toMatchObject({ sessionId: cursor.session, resume: 'gap' });
  expect(messages).toHaveLength(2);
  expect(server.agents()).toHaveLength(2);
  await second.run('And?');
  expect(sessionFiles(server.home)).toHaveLength(1);
});

it('[W56] what its last client wanted of it does not keep an agent', async () => {
  const server = await startServer({ script: TALK, args: PARK_AT_ONCE });
  for (const [query, command] of [
    [{}, { type: 'hello', heartbeatMs: 50 }],
    [{ ui: '' }, { type: 'get_state' }],
    [{ entries: 1 }, { type: 'get_state' }],
    [{}, { type: 'set_host_tools', tools: [hostTool('mine')] }],
  ] as const) {
    const peer = await server.attach(query);
    await peer.ok(command);
    await peer.disconnect();
    await parked(server);
  }
});

it('[W56] neither does what its last client did not stay to hear', async () => {
  const home = fastRetryHome();
  const gate = newGate();
  const script = [{ text: 'One.' }, { text: 'Two.' }, { steps: [{ await: gate.path }, { text: 'Summary.' }] }];
  const server = await startServer({ home, script, args: PARK_AT_ONCE });
  const asking = await server.attach();
  asking.send({ type: 'set_host_tools', tools: [hostTool('mine')] });
  await asking.disconnect();
  await parked(server);

  const peer = await server.attach();
  await peer.run(`first ${FILLER}`);
  await peer.run(`second ${FILLER}`);
  peer.send({ type: 'compact' });
  await peer.next('compaction_start');
  const { session } = peer.cursor;
  await peer.disconnect();
  gate.open();
  await parked(server);

  const back = await server.attach({ session });
  expect((await back.ok({ type: 'get_messages' })).messages[0]).toMatchObject({ role: 'compactionSummary' });
});

it('[W56] one that somebody comes to while it leaves is woken again', async () => {
  const server = await startServer({ script: TALK, args: PARK_AT_ONCE });
  const first = await server.attach();
  await first.run('Hi');
  const { session } = first.cursor;

  for (let visits = 1; visits <= 5; visits++) {
    const visitor = await server.attach({ session });
    expect(await visitor.ok({ type: 'get_state' })).toMatchObject({ sessionId: session, messageCount: 2 });
    if (visits === 1) await first.disconnect();
    await visitor.disconnect();
  }
});

it('[W56] an agent at work is not let go before its run is over', async () => {
  const gate = newGate();
  const server = await startServer({
    script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }] }],
    args: PARK_AT_ONCE,
  });
  const first = await server.attach();
  const { session } = first.cursor;
  await first.ok({ type: 'prompt', message: 'Hi' });
  await first.next('message_update');
  await first.disconnect();
  const other = await server.attach();
  expect(await statusOf(other, session)).toBe('running');

  gate.open();
  await waitUntil(async () => (await statusOf(other, session)) === undefined);
  const second = server.connect({ session });

  const { messages } = await second.next('state_synced');
  expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: [{ text: 'Well, done.' }], stopReason: 'stop' });
});

it('[W56] an agent that runs a command, or waits for an answer, is not let go', async () => {
  const gate = newGate();
  const server = await startServer({ script: TALK, args: PARK_AT_ONCE, agentArgs: ['-e', fixture('dialogs')] });
  const first = await server.attach();
  await first.run('Hi');
  first.send({ type: 'bash', command: `until [ -e ${gate.path} ]; do sleep 0.01; done; echo over` });
  await first.ok({ type: 'get_state' });
  const { session } = first.cursor;
  await first.disconnect();
  const asking = await server.attach();
  await asking.ok({ type: 'prompt', message: '/interview' });
  await asking.next('extension_ui_request');
  await asking.disconnect();
  const other = await server.attach();
  expect(await statusOf(other, session)).toBe('idle');

  gate.open();
  await waitUntil(async () => (await statusOf(other, session)) === undefined);

  expect(server.agents()).toHaveLength(3);
  const back = await server.attach({ session: asking.cursor.session });
  await back.next('extension_ui_request');
  expect(server.agents()).toHaveLength(3);
  const again = await server.attach({ session });
  expect((await again.ok({ type: 'get_messages' })).messages.at(-1)).toMatchObject({
    role: 'bashExecution',
    output: 'over\n',
  });
});

it('[W56] what a new session was called is remembered while it is parked, also when it came from `new_session`', async () => {
  const server = await startServer({ script: TALK, args: PARK_AT_ONCE });
  const first = await server.attach();
  await first.run('Hi');
  const { sessionId } = await first.ok({ type: 'new_session' });
  await first.disconnect();
  await parked(server);

  const second = await server.attach({ session: sessionId });

  expect(second.cursor.session).toBe(sessionId);
});

/** A session whose agent was parked, and another process that is in it now. */
async function heldElsewhere() {
  const server = await startServer({ script: TALK, args: PARK_AT_ONCE });
  const first = await server.attach();
  await first.run('Hi');
  const { session } = first.cursor;
  await first.disconnect();
  await parked(server);
  const [file = ''] = sessionFiles(server.home);
  const holder = await openTestAgent('stdio', { home: server.home, args: ['--session', file] });
  await holder.peer.ok({ type: 'get_state' });
  return { server, session, holder };
}

it('[W58] a session that another process is in is waited for, and taken over when that leaves', async () => {
  const { server, session, holder } = await heldElsewhere();

  const second = server.connect({ session });
  await waitUntil(async () => server.agents().length > 1);
  await holder.close();

  expect((await second.next('state_synced')).messages).toHaveLength(2);
});

it('[W58] when it does not leave within three seconds the connection ends with 4409', async () => {
  const { server, session, holder } = await heldElsewhere();

  const second = server.connect({ session });

  expect(await second.ended).toMatchObject({ code: 4409, reason: expect.stringContaining('in use') });
  expect(second.records[0]).toMatchObject({ type: 'server_error', code: 'session_in_use' });
  await holder.close();
  await server.attach({ session });
});

async function statusOf(peer: Awaited<ReturnType<TestServer['attach']>>, id: string): Promise<string | undefined> {
  const { sessions } = await peer.ok({ type: 'list_sessions' });
  return sessions.find((session: { id: string }) => session.id === id)?.status;
}
