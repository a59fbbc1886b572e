import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { emptyView, reduce } from '../../../src/client/view/view.ts';
import type { AgentEvent } from '../../../src/index.ts';
import { answerDialog, homeWithCommands, fixture, nextUiRequest, userExtension } from '../../support/agent/extensions.ts';
import { newGate, newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { startServer } from '../../support/server/test-server.ts';
import { shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { briefConversation, briefs } from '../../support/sessions/session-tree.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];

/** What a move gives: its answer comes first, then where the client is now, and what was said there. */
async function moved(peer: RemotePeer, command: { type: string } & Record<string, unknown>) {
  const heard = peer.records.length;
  const data = await peer.ok(command);
  const synced = await peer.next('state_synced');
  const told = peer.records.slice(heard, peer.records.indexOf(synced) + 1).map(({ type }) => type);
  // An answer may stream until the client has left.
  expect(told.filter((type) => type !== 'message_update')).toEqual(['response', 'server_connected', 'state_synced']);
  expect(peer.records.findLast(({ type }) => type === 'server_connected')).toMatchObject({ sessionId: data.sessionId });
  expect(synced.state.sessionId).toBe(data.sessionId);
  return { data, messages: synced.messages as { role: string }[] };
}

it('[W29] each move takes the client that asked to another session, and the others stay', async () => {
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
    const { data, messages: there } = await moved(mover, command);
    expect(there).toHaveLength(messages);
    sessions.push(data.sessionId);
    await moved(mover, { type: 'switch_session', sessionPath: sessionFile });
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

it('[W29] a move during a run leaves the run alone', async () => {
  const gate = newGate();
  const server = await startServer({
    script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }], when: '^Hi' }, ...TALK],
  });
  const mover = await server.attach();
  const stayer = await server.attach({ session: mover.cursor.session });
  await mover.ok({ type: 'prompt', message: 'Hi' });
  await Promise.all([mover.next('message_update'), stayer.next('message_update')]);

  const { data } = await moved(mover, { type: 'new_session' });
  expect(data.cancelled).toBe(false);
  gate.open();

  expect(await stayer.next('agent_settled')).toMatchObject({ outcome: 'ok' });
  await mover.run('next');
  expect(mover.eventTypes.filter((type) => type === 'agent_settled')).toHaveLength(1);
});

it('[W29 C18] what is to be done while a move is under way is done in the session that it leads to, what is read is not', async () => {
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

it('[W29] `detached` only tells where the move would lead', async () => {
  const server = await startServer({ script: TALK });
  const peer = await server.attach();
  await peer.run('first');
  const { session } = peer.cursor;

  const { sessionId } = await peer.ok({ type: 'clone', detached: true });

  expect(sessionId).not.toBe(session);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionId: session });
});

it('[W29] what cannot be is refused, and the client stays', async () => {
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
});

it('[W59] a switch to a session that another client is in attaches there', async () => {
  const server = await startServer({ script: TALK });
  const first = await server.attach();
  await first.run('first');
  const { sessionFile, sessionId } = await first.ok({ type: 'get_state' });
  const second = await server.attach();
  await second.run('second');

  const { data, messages } = await moved(second, { type: 'switch_session', sessionPath: sessionFile });

  expect(data).toEqual({ cancelled: false, sessionId, sessionFile });
  expect(messages).toHaveLength(2);
  await first.run('third');
  await second.next('agent_settled');
  expect(await briefConversation(second)).toEqual(await briefConversation(first));
  expect(server.agents()).toHaveLength(2);
});

it('[W59] a copy of a file that somebody is in is not taken for it', async () => {
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
  await moved(second, { type: 'switch_session', sessionPath: sessionFile });
});

it('[W29] who leaves a session by a move leaves its file to others at once', async () => {
  const server = await startServer({ script: TALK });
  const peer = await server.attach();
  await peer.run('first');
  const { sessionFile } = await peer.ok({ type: 'get_state' });

  await moved(peer, { type: 'new_session' });

  const other = await openTestAgent('stdio', { home: server.home, args: ['--session', sessionFile] });
  expect(await other.peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile, messageCount: 2 });
});

it('[W59] an extension may say no, also to a session that another client is in', async () => {
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
  await moved(peer, { type: 'switch_session', sessionPath: sessionFile });
});

it('[W59] an extension may ask the client that wants to go', async () => {
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

it('[W59] while an extension asks, whoever wants to go can stop it, and is heard', async () => {
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

it('[W29] built-in commands move the client alone, and only who wants them', async () => {
  const server = await startServer({ script: TALK });
  const peer = await server.attach();
  await peer.run('first');
  const stayer = await server.attach({ session: peer.cursor.session });
  await peer.ok({ type: 'hello', builtins: true });

  const answered = await peer.ok({ type: 'prompt', message: '/new' });

  expect(answered).toMatchObject({ disposition: 'handled', output: expect.stringContaining('Started the session') });
  await peer.next('state_synced');
  expect(peer.cursor.session).not.toBe(stayer.cursor.session);
  await stayer.ok({ type: 'get_state' });
  expect(stayer.eventTypes).toEqual(['server_connected', 'state_synced']);
});

it('[W59] an agent that an extension takes to another session takes its clients along', async () => {
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

it('[W50 W59] each is told as much of it as it wanted, and what is said there', async () => {
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
  // The run may be over before everybody was told where they are.
  for (const peer of [first, second]) {
    await peer.find(({ type, runId }) => type === 'agent_settled' && runId !== firstRun);
  }

  expect(last.messages).toHaveLength(1);
  expect(all.messages.length).toBeGreaterThan(1);
  const words = await briefConversation(first);
  expect(words).toEqual(['user: first', 'assistant: one', 'user: I am here', 'assistant: Hello there.']);
  expect(briefs(viewOf(first).messages)).toEqual(words);
  expect(words.slice(-briefs(viewOf(second).messages).length)).toEqual(briefs(viewOf(second).messages));
});

it('[A7 W59] who may not open the folder that it goes to is left behind', async () => {
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
});

/** What a screen shows of what it was told. */
const viewOf = ({ records }: RemotePeer) =>
  records.reduce((view, record) => reduce(view, record as unknown as AgentEvent), emptyView);
