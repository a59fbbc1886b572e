import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { emptyView, reduce } from '../../../src/client/view/view.ts';
import type { AgentEvent } from '../../../src/index.ts';
import { builtinMoveRequest } from '../../../src/server/gateway/session-moves.ts';
import {
  answerDialog,
  fixture,
  homeWithCommands,
  nextUiRequest,
  userExtension,
} from '../../support/agent/extensions.ts';
import { newGate, newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { itOnOneServer, startServer } from '../../support/server/test-server.ts';
import { briefConversation, briefs } from '../../support/sessions/session-tree.ts';
import { shortConversation, storeSession } from '../../support/sessions/stored-session.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];

/** Runs a command that changes the session; checks that response, server_connected and snapshot follow in order. */
async function changeSession(peer: RemotePeer, command: { type: string } & Record<string, unknown>) {
  const offset = peer.records.length;
  const data = await peer.ok(command);
  const synced = await peer.next('state_synced');
  const types = peer.records.slice(offset, peer.records.indexOf(synced) + 1).map(({ type }) => type);
  // Updates may arrive until the client is detached.
  expect(types.filter((type) => type !== 'message_update')).toEqual(['response', 'server_connected', 'state_synced']);
  expect(peer.records.findLast(({ type }) => type === 'server_connected')).toMatchObject({ sessionId: data.sessionId });
  expect(synced.state.sessionId).toBe(data.sessionId);
  return { data, messages: synced.messages as { role: string }[] };
}

it('[W29] a session change moves only the client that sent it', async () => {
  const home = newHome();
  const sessionPath = storeSession(home, shortConversation(home.cwd));
  const server = await startServer({ home, script: TALK });
  const mover = await server.attach();
  await mover.run('first');
  const { session } = mover.cursor;
  const { sessionFile } = await mover.ok({ type: 'get_state' });
  const stayer = await server.attach({ session });
  const [{ entryId }] = (await mover.ok({ type: 'get_fork_messages' })).messages;

  const sessions: string[] = [];
  for (const [command, messages] of [
    [{ type: 'new_session' }, 0],
    [{ type: 'switch_session', sessionPath }, 2],
    [{ type: 'fork', entryId }, 0],
    [{ type: 'branch', entryId }, 0],
    [{ type: 'clone' }, 2],
  ] as const) {
    const { data, messages: there } = await changeSession(mover, command);
    expect(there).toHaveLength(messages);
    sessions.push(data.sessionId);
    await changeSession(mover, { type: 'switch_session', sessionPath: sessionFile });
    expect(mover.cursor.session).toBe(session);
  }

  expect(new Set([...sessions, session]).size).toBe(6);
  await stayer.ok({ type: 'get_state' });
  expect(stayer.eventTypes).toEqual(['server_connected', 'state_synced']);
  expect(await briefConversation(stayer)).toEqual(['user: first', 'assistant: Hello there.']);
  const [old = 0] = [stayer.records.length];
  await mover.run('again');
  await stayer.next('agent_settled');
  expect(stayer.records.length).toBeGreaterThan(old);
});

it('[W29] a session change during a run does not affect the run', async () => {
  const gate = newGate();
  const server = await startServer({
    script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }], when: '^Hi' }, ...TALK],
  });
  const mover = await server.attach();
  const stayer = await server.attach({ session: mover.cursor.session });
  await mover.ok({ type: 'prompt', message: 'Hi' });
  await Promise.all([mover.next('message_update'), stayer.next('message_update')]);

  const { data } = await changeSession(mover, { type: 'new_session' });
  expect(data.cancelled).toBe(false);
  gate.open();

  expect(await stayer.next('agent_settled')).toMatchObject({ outcome: 'ok' });
  await mover.run('next');
  expect(mover.eventTypes.filter((type) => type === 'agent_settled')).toHaveLength(1);
});

it('[W29 C18] during a session change, session commands wait for the new session and reads do not', async () => {
  const server = await startServer({ script: TALK });
  const peer = await server.attach();
  await peer.run('first');
  const { session } = peer.cursor;

  const moving = peer.ok({ type: 'new_session' });
  const naming = peer.ok({ type: 'set_session_name', name: 'there' });
  const { sessionId: before } = await peer.ok({ type: 'get_state' });
  await naming;

  expect(before).toBe(session);
  const { sessionId } = await moving;
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId, sessionName: 'there' });
});

it('[W29] `detached` returns the new session without moving the client', async () => {
  const server = await startServer({ script: TALK });
  const peer = await server.attach();
  await peer.run('first');
  const { session } = peer.cursor;

  const { sessionId } = await peer.ok({ type: 'clone', detached: true });

  expect(sessionId).not.toBe(session);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId: session });
});

itOnOneServer('another program uses the file')(
  '[W29] a failed session change is rejected, and the client stays',
  async () => {
    const home = newHome();
    const sessionPath = storeSession(home, shortConversation(home.cwd));
    const server = await startServer({ home, script: TALK });
    const peer = await server.attach();
    await peer.run('first');
    const holder = await openTestAgent('stdio', { home, args: ['--session', sessionPath] });
    await holder.peer.ok({ type: 'get_state' });

    expect(await peer.refused({ type: 'switch_session', sessionPath: 'nowhere.jsonl' })).toMatchObject({
      error: 'Session not found: nowhere.jsonl',
    });
    expect(await peer.refused({ type: 'switch_session', sessionPath })).toMatchObject({ code: 'session_in_use' });
    expect(await peer.refused({ type: 'fork', entryId: 'none' })).toMatchObject({ code: 'not_found' });
    expect(await peer.run('second')).toContainEqual(expect.objectContaining({ type: 'agent_settled', outcome: 'ok' }));
  },
);

it('[W59] switching to an open session attaches to its agent', async () => {
  const server = await startServer({ script: TALK });
  const first = await server.attach();
  await first.run('first');
  const { sessionFile, sessionId } = await first.ok({ type: 'get_state' });
  const second = await server.attach();
  await second.run('second');

  const { data, messages } = await changeSession(second, { type: 'switch_session', sessionPath: sessionFile });

  expect(data).toEqual({ cancelled: false, sessionId, sessionFile });
  expect(messages).toHaveLength(2);
  await first.run('third');
  await second.next('agent_settled');
  expect(await briefConversation(second)).toEqual(await briefConversation(first));
  expect(server.agents()).toHaveLength(2);
});

itOnOneServer('a copy of a file is not in the cluster')(
  '[W59] a copy of an open session file is rejected',
  async () => {
    const server = await startServer({ script: TALK });
    const first = await server.attach();
    await first.run('first');
    const { sessionFile } = await first.ok({ type: 'get_state' });
    const copy = join(server.home.root, 'copy.jsonl');
    copyFileSync(sessionFile, copy);
    const second = await server.attach();

    expect(await second.refused({ type: 'switch_session', sessionPath: copy })).toMatchObject({
      code: 'session_in_use',
      error: `A session with the same id is in use: ${copy}`,
    });
    await first.disconnect();
    await changeSession(second, { type: 'switch_session', sessionPath: sessionFile });
  },
);

itOnOneServer('another program uses the file')(
  '[W29] a session left by its only client is released at once',
  async () => {
    const server = await startServer({ script: TALK });
    const peer = await server.attach();
    await peer.run('first');
    const { sessionFile } = await peer.ok({ type: 'get_state' });

    await changeSession(peer, { type: 'new_session' });

    const other = await openTestAgent('stdio', { home: server.home, args: ['--session', sessionFile] });
    expect(await other.peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile, messageCount: 2 });
  },
);

it('[W59] an extension may cancel a session change, even to an open session', async () => {
  const server = await startServer({ script: TALK, agentArgs: ['-e', fixture('session-cancel')] });
  const other = await server.attach();
  await other.run('first');
  const { sessionFile } = await other.ok({ type: 'get_state' });
  const peer = await server.attach();
  await peer.run('second');
  const [{ entryId }] = (await peer.ok({ type: 'get_fork_messages' })).messages;

  const moves = [
    { type: 'new_session' },
    { type: 'switch_session', sessionPath: sessionFile },
    { type: 'fork', entryId },
    { type: 'clone' },
  ];
  for (const move of moves) expect(await peer.ok(move)).toMatchObject({ cancelled: true });

  expect(peer.eventTypes.filter((type) => type === 'server_connected')).toHaveLength(1);
  await peer.ok({ type: 'prompt', message: '/unlock' });
  await changeSession(peer, { type: 'switch_session', sessionPath: sessionFile });
});

it('[W59] an extension may open a dialog for the client that changes the session', async () => {
  const { home } = homeWithCommands(
    {},
    "pi.on('session_before_switch', async (event, ctx) => ({ cancel: !(await ctx.ui.confirm('Leave?', '')) }));",
  );
  const server = await startServer({ home, script: TALK });
  const peer = await server.attach();
  await peer.run('first');
  const { session } = peer.cursor;

  for (const confirmed of [false, true]) {
    const moving = peer.ok({ type: 'new_session' });
    const naming = peer.ok({ type: 'set_session_name', name: 'here' });
    await answerDialog(peer, 'confirm', { confirmed });
    expect(await moving).toMatchObject({ cancelled: !confirmed });
    await naming;
    const { sessionId, sessionName } = await peer.ok({ type: 'get_state' });
    expect([sessionId === session, sessionName]).toEqual([!confirmed, 'here']);
  }
});

it('[W59] an abort cancels a session change that waits for a dialog', async () => {
  const { home } = homeWithCommands(
    {},
    "pi.on('session_before_switch', async (event, ctx) => ({ cancel: !(await ctx.ui.confirm('Leave?', '')) }));",
  );
  const server = await startServer({ home, script: TALK });
  const peer = await server.attach();
  await peer.run('first');

  const moving = peer.ok({ type: 'new_session' });
  const { id } = await nextUiRequest(peer, 'confirm');
  await peer.ok({ type: 'ping' });
  await peer.ok({ type: 'abort' });
  peer.send({ type: 'extension_ui_response', id, confirmed: false });

  expect(await moving).toMatchObject({ cancelled: true });
});

it('[W29] built-in commands move only their client, after hello with builtins', async () => {
  const server = await startServer({ script: TALK });
  const peer = await server.attach();
  await peer.run('first');
  const stayer = await server.attach({ session: peer.cursor.session });
  await peer.ok({ type: 'hello', builtins: true });

  const response = await peer.ok({ type: 'prompt', message: '/new' });

  expect(response).toMatchObject({ disposition: 'handled', output: expect.stringContaining('Started the session') });
  await peer.next('state_synced');
  expect(peer.cursor.session).not.toBe(stayer.cursor.session);
  await stayer.ok({ type: 'get_state' });
  expect(stayer.eventTypes).toEqual(['server_connected', 'state_synced']);
});

it('[W103] white space and arguments of a built-in command never move or stop the other clients', async () => {
  const gate = newGate();
  const server = await startServer({
    script: [
      { text: 'Hello there.', when: '^first' },
      { steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }], when: '^second' },
    ],
  });
  const stayer = await server.attach();
  await stayer.run('first');
  const { session } = stayer.cursor;
  const { messages } = await stayer.ok({ type: 'get_fork_messages' });
  const { entryId } = messages[0];
  await stayer.ok({ type: 'prompt', message: 'second' });
  await stayer.next('message_update');

  for (const message of [
    '/new x',
    '/new\n\ny',
    `/fork\n${entryId}`,
    `/fork\u00a0${entryId}\t`,
    `/fork \r\n ${entryId}`,
  ]) {
    const mover = await server.attach({ session });
    await mover.ok({ type: 'hello', builtins: true });
    expect(await mover.ok({ type: 'prompt', message })).toMatchObject({ disposition: 'handled' });
    await mover.next('state_synced');
    expect(mover.cursor.session).not.toBe(session);
  }

  gate.open();
  expect(await stayer.next('agent_settled')).toMatchObject({ aborted: false });
  expect(stayer.records.filter(({ type }) => type === 'server_connected')).toHaveLength(1);
});

it('[W103] server and agent agree on any text whether it moves to another session', async () => {
  const { peer } = await openTestAgent('memory', { script: [{ text: 'Well.', when: '', keep: true }] });
  const anySpace = fc.constantFrom('', ' ', '\t', '\n', '\r\n', '\u00a0', '\u2028', '\ufeff', '\0');
  const anyName = fc.constantFrom('new', 'fork', 'New', 'news', 'fork-', '');
  const anyText = fc
    .tuple(fc.constantFrom('/', ' /', '//'), anyName, anySpace, fc.constantFrom('', 'x', '/new', 'a b'), anySpace)
    .map((parts) => parts.join(''));

  await fc.assert(
    fc.asyncProperty(anyText, async (message) => {
      const before = (await peer.ok({ type: 'get_state' })).sessionId;
      const response = await peer.request({ type: 'prompt', message, builtins: true });
      await peer.ok({ type: 'wait_idle' });
      const hasMoved = (await peer.ok({ type: 'get_state' })).sessionId !== before;
      const requested = builtinMoveRequest(message);
      expect(hasMoved).toBe(requested?.type === 'new_session');
      // There is no entry with such an id.
      expect(response['success']).toBe(requested?.type !== 'fork');
    }),
    { numRuns: 150 },
  );
});

it('[W59] when an extension switches the session of an agent, all its clients follow', async () => {
  const { home } = homeWithCommands({ leave: 'await ctx.newSession();' });
  const server = await startServer({ home, script: TALK });
  const first = await server.attach();
  await first.run('first');
  const { session } = first.cursor;
  const second = await server.attach({ session });

  await first.ok({ type: 'prompt', message: '/leave' });
  for (const peer of [first, second]) expect((await peer.next('state_synced')).messages).toEqual([]);

  expect(first.cursor.session).not.toBe(session);
  expect(second.cursor.session).toBe(first.cursor.session);
  const back = await server.attach({ session });
  expect(await briefConversation(back)).toEqual(['user: first', 'assistant: Hello there.']);
  await first.run('next');
  await second.next('agent_settled');
});

itOnOneServer('an extension cannot change to a stored session in a cluster')(
  '[W50 W59] after a session switch by an extension each client gets a snapshot of its requested length',
  async () => {
    const home = newHome();
    const there = storeSession(home, shortConversation(home.cwd));
    userExtension(
      home,
      'go.ts',
      `export default (pi) => pi.registerCommand('go', { handler: async (args, ctx) => {
      await ctx.switchSession(${JSON.stringify(there)});
      pi.sendUserMessage('I am here');
    } });`,
    );
    const server = await startServer({ home, script: TALK });
    const first = await server.attach({ stream: 'delta' });
    const firstRun = (await first.run('first')).at(-1)?.['runId'];
    const second = await server.attach({ session: first.cursor.session, stream: 'delta', tail: 1 });
    const isThere = ({ type, sessionId }: Record<string, unknown>) =>
      type === 'server_connected' && sessionId === 'stored-1';

    await first.ok({ type: 'prompt', message: '/go' });
    for (const peer of [first, second]) await peer.next(isThere);
    const [all, last] = [await first.next('state_synced'), await second.next('state_synced')];
    // The run may settle before every client has its snapshot.
    for (const peer of [first, second]) {
      await peer.find(({ type, runId }) => type === 'agent_settled' && runId !== firstRun);
    }

    expect(last.messages).toHaveLength(1);
    expect(all.messages.length).toBeGreaterThan(1);
    const conversationBriefs = await briefConversation(first);
    expect(conversationBriefs).toEqual(['user: first', 'assistant: one', 'user: I am here', 'assistant: Hello there.']);
    expect(briefs(viewOf(first).messages)).toEqual(conversationBriefs);
    expect(conversationBriefs.slice(-briefs(viewOf(second).messages).length)).toEqual(briefs(viewOf(second).messages));
  },
);

itOnOneServer('an extension cannot change to a stored session in a cluster')(
  '[A7 W59] a client that may not open the new folder is disconnected on a session switch',
  async () => {
    const home = newHome();
    const secret = join(home.root, 'secret');
    mkdirSync(secret);
    const there = storeSession(home, shortConversation(secret), { cwd: secret });
    userExtension(
      home,
      'go.ts',
      `export default (pi) => pi.registerCommand('go', { handler: (args, ctx) => ctx.switchSession(${JSON.stringify(there)}) });`,
    );
    const limited = { name: 'Limited', scopes: ['view'], allowedPaths: [home.cwd] };
    const server = await startServer({ home, script: TALK, tokens: { 'token-of-a-limited': limited } });
    const owner = await server.attach();
    await owner.run('Hi');
    const watcher = await server.attach({ session: owner.cursor.session, token: 'token-of-a-limited' });

    await owner.ok({ type: 'prompt', message: '/go' });

    expect(await owner.next('state_synced')).toMatchObject({ state: { cwd: secret } });
    expect(await watcher.ended).toMatchObject({ code: 4404 });
    expect(JSON.stringify(watcher.records)).not.toContain(secret);
    expect(await briefConversation(owner)).toEqual(['user: first', 'assistant: one']);
  },
);

/** The state that a client shows after these records. */
const viewOf = ({ records }: RemotePeer) =>
  records.reduce((view, record) => reduce(view, record as unknown as AgentEvent), emptyView);

it('[W104] after a failed move the quota counts the session that the client is in', async () => {
  const user = { name: 'User', scopes: ['view', 'prompt'], allowedPaths: ['/'] };
  const server = await startServer({
    script: TALK,
    args: ['--max-sessions', '4'],
    tokens: { 'token-of-a-user': user },
  });
  const asUser = { token: 'token-of-a-user' };
  const owners = await Promise.all([1, 2, 3].map(() => server.attach()));
  const mover = await server.attach(asUser);

  expect(await mover.refused({ type: 'new_session' })).toMatchObject({ code: 'overloaded' });
  for (const owner of owners) await owner.disconnect();
  await server.attach(asUser);

  // Two sessions are all that the token may have.
  const second = await server.attach({ ...asUser, session: mover.cursor.session });
  expect(second.cursor.session).toBe(mover.cursor.session);
});
