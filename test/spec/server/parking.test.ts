import { expect, it } from 'vitest';
import { FILLER, fastRetryHome } from '../../support/agent/compaction.ts';
import { fixture } from '../../support/agent/extensions.ts';
import { newGate, openTestAgent, sessionFiles } from '../../support/agent/test-agent.ts';
import { filterAlive, waitUntil } from '../../support/processes/processes.ts';
import { itOnOneServer, startServer, type TestServer } from '../../support/server/test-server.ts';
import { hostTool } from '../../support/tools/host-tools.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];
const PARK_AT_ONCE = ['--park-after', '0'];

/** Waits until no agent of this server lives. */
const waitUntilParked = (server: TestServer) =>
  waitUntil(async () => (await filterAlive(server.agents().map(({ pid }) => pid))).length === 0);

it('[W56] an idle agent without clients is parked, and started again for the next client', async () => {
  const server = await startServer({ script: TALK, args: PARK_AT_ONCE });
  const first = await server.attach();
  await first.run('Hi');
  const { cursor } = first;
  await first.disconnect();
  await waitUntilParked(server);

  const second = server.connect(cursor);
  const { messages } = await second.next('state_synced');

  expect(second.records[0]).toMatchObject({ sessionId: cursor.session, resume: 'gap' });
  expect(messages).toHaveLength(2);
  expect(server.agents()).toHaveLength(2);
  await second.run('And?');
  expect(sessionFiles(server.home)).toHaveLength(1);
});

it('[W56] heartbeats, entries and host tools of the last client do not delay parking', async () => {
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
    await waitUntilParked(server);
  }
});

it('[W56] a pending response of a disconnected client does not prevent parking', async () => {
  const home = fastRetryHome();
  const gate = newGate();
  const script = [{ text: 'One.' }, { text: 'Two.' }, { steps: [{ await: gate.path }, { text: 'Summary.' }] }];
  const server = await startServer({ home, script, args: PARK_AT_ONCE });
  const requester = await server.attach();
  requester.send({ type: 'set_host_tools', tools: [hostTool('mine')] });
  await requester.disconnect();
  await waitUntilParked(server);

  const peer = await server.attach();
  await peer.run(`first ${FILLER}`);
  await peer.run(`second ${FILLER}`);
  peer.send({ type: 'compact' });
  await peer.next('compaction_start');
  const { session } = peer.cursor;
  await peer.disconnect();
  gate.open();
  await waitUntilParked(server);

  const back = await server.attach({ session });
  expect((await back.ok({ type: 'get_messages' })).messages[0]).toMatchObject({ role: 'compactionSummary' });
});

it('[W56] a client that attaches while the agent parks gets a new agent', async () => {
  const server = await startServer({ script: TALK, args: PARK_AT_ONCE });
  const first = await server.attach();
  await first.run('Hi');
  const { session } = first.cursor;

  for (let visits = 1; visits <= 5; visits++) {
    const client = await server.attach({ session });
    expect(await client.ok({ type: 'get_state' })).toMatchObject({ sessionId: session, messageCount: 2 });
    if (visits === 1) await first.disconnect();
    await client.disconnect();
  }
});

it('[W56] a busy agent is parked only after its run', async () => {
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
  await expect.poll(() => statusOf(other, session)).toBe('running');

  gate.open();
  await expect.poll(() => statusOf(other, session)).toBeUndefined();
  const second = server.connect({ session });

  const { messages } = await second.next('state_synced');
  expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: [{ text: 'Well, done.' }], stopReason: 'stop' });
});

it('[W56] an agent with a running bash command or an open dialog is not parked', async () => {
  const gate = newGate();
  const server = await startServer({ script: TALK, args: PARK_AT_ONCE, agentArgs: ['-e', fixture('dialogs')] });
  const first = await server.attach();
  await first.run('Hi');
  first.send({ type: 'bash', command: `until [ -e ${gate.path} ]; do sleep 0.05; done; echo over` });
  await first.ok({ type: 'get_state' });
  const { session } = first.cursor;
  await first.disconnect();
  const requester = await server.attach();
  await requester.ok({ type: 'prompt', message: '/interview' });
  await requester.next('extension_ui_request');
  await requester.disconnect();
  const other = await server.attach();
  await expect.poll(() => statusOf(other, session)).toBe('idle');

  gate.open();
  await expect.poll(() => statusOf(other, session)).toBeUndefined();

  expect(server.agents()).toHaveLength(3);
  const back = await server.attach({ session: requester.cursor.session });
  await back.next('extension_ui_request');
  expect(server.agents()).toHaveLength(3);
  const again = await server.attach({ session });
  expect((await again.ok({ type: 'get_messages' })).messages.at(-1)).toMatchObject({
    role: 'bashExecution',
    output: 'over\n',
  });
});

it('[W56] the id of an empty session is kept while it is parked, also after `new_session`', async () => {
  const server = await startServer({ script: TALK, args: PARK_AT_ONCE });
  const first = await server.attach();
  await first.run('Hi');
  const { sessionId } = await first.ok({ type: 'new_session' });
  await first.disconnect();
  await waitUntilParked(server);

  const second = await server.attach({ session: sessionId });

  expect(second.cursor.session).toBe(sessionId);
});

/** A parked session that another process has opened. */
async function sessionHeldElsewhere() {
  const server = await startServer({ script: TALK, args: PARK_AT_ONCE });
  const first = await server.attach();
  await first.run('Hi');
  const { session } = first.cursor;
  await first.disconnect();
  await waitUntilParked(server);
  const [file = ''] = sessionFiles(server.home);
  const holder = await openTestAgent('stdio', { home: server.home, args: ['--session', file] });
  await holder.peer.ok({ type: 'get_state' });
  return { server, session, holder };
}

itOnOneServer('another program uses the file')(
  '[W58] the server waits for a session of another process and opens it when released',
  async () => {
    const { server, session, holder } = await sessionHeldElsewhere();

    const second = server.connect({ session });
    await waitUntil(async () => server.agents().length > 1);
    await holder.close();

    expect((await second.next('state_synced')).messages).toHaveLength(2);
  },
);

itOnOneServer('another program uses the file')(
  '[W58] a session held for three seconds by another process closes the connection with 4409',
  async () => {
    const { server, session, holder } = await sessionHeldElsewhere();

    const second = server.connect({ session });

    expect(await second.ended).toMatchObject({ code: 4409, reason: expect.stringContaining('in use') });
    expect(second.records[0]).toMatchObject({ type: 'server_error', code: 'session_in_use' });
    await holder.close();
    await server.attach({ session });
  },
);

async function statusOf(peer: Awaited<ReturnType<TestServer['attach']>>, id: string): Promise<string | undefined> {
  const { sessions } = await peer.ok({ type: 'list_sessions' });
  return sessions.find((session: { id: string }) => session.id === id)?.status;
}
