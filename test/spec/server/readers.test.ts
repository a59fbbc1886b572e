import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture } from '../../support/agent/extensions.ts';
import {
  type Home,
  newGate,
  newHome,
  openTestAgent,
  readSessionFile,
  sessionFiles,
} from '../../support/agent/test-agent.ts';
import { filterAlive, waitUntil } from '../../support/processes/processes.ts';
import { itOnOneServer, type ServerOptions, startServer, type TestServer } from '../../support/server/test-server.ts';
import {
  assistantEntry,
  assistantMessage,
  header,
  shortConversation,
  storeSession,
  userEntry,
} from '../../support/sessions/stored-session.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];
const VIEWER = 'token-of-a-viewer';
const WRITER = 'token-of-a-writer';
const TOKENS = {
  [VIEWER]: { name: 'Viewer', scopes: ['view'] },
  [WRITER]: { name: 'Writer', scopes: ['view', 'prompt'] },
};

const serve = (home: Home, options: ServerOptions = {}) =>
  startServer({ home, script: TALK, tokens: TOKENS, args: ['--park-after', '0'], ...options });

/** Everything below a folder: names, contents, times and modes. */
function contentOf(folder: string) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mtimeMs, ino, mode } = statSync(join(folder, name));
      return { name, mtimeMs, ino, mode, text: readFileSync(join(folder, name), 'utf8') };
    });
}

const livingAgents = (server: TestServer) => filterAlive(server.agents().map(({ pid }) => pid));

const waitUntilParked = (server: TestServer) => waitUntil(async () => (await livingAgents(server)).length === 0);

const toolCall = { type: 'toolCall', id: 'call-1', name: 'bash', arguments: { command: 'true' } };
const timestamp = '2025-01-02T03:04:05.678Z';
const userMessage = { role: 'user', content: [{ type: 'text', text: 'old' }], timestamp: 1 };

type StoreSession = (home: Home, id: string) => { readonly path: string; readonly roles: readonly string[] };

const fileOf = (id: string) => ({ name: `2026-01-02T03-04-05-678Z_${id}.jsonl` });

/** Sessions that an agent which may write changes when it opens or closes them, and the roles of their messages. */
const STORED: Readonly<Record<string, StoreSession>> = {
  empty: (home, id) => ({ path: storeSession(home, [header(home.cwd, { id })], fileOf(id)), roles: [] }),
  torn: (home, id) => {
    const path = storeSession(home, shortConversation(home.cwd, { id }), fileOf(id));
    appendFileSync(path, '{"type":"message","id":"cccccccc","par');
    return { path, roles: ['user', 'assistant'] };
  },
  unterminated: (home, id) => {
    const path = storeSession(home, shortConversation(home.cwd, { id }), fileOf(id));
    appendFileSync(path, JSON.stringify(userEntry('cccccccc', 'bbbbbbbb', 'last')));
    return { path, roles: ['user', 'assistant', 'user'] };
  },
  version1: (home, id) => {
    const lines = [
      { type: 'session', id, timestamp, cwd: home.cwd },
      { type: 'message', timestamp, message: userMessage },
      { type: 'message', timestamp, message: assistantMessage({ content: [{ type: 'text', text: 'new' }] }) },
    ];
    return { path: storeSession(home, lines, fileOf(id)), roles: ['user', 'assistant'] };
  },
  version2: (home, id) => {
    const message = { role: 'hookMessage', customType: 'note', content: 'n', display: true, timestamp: 2 };
    const lines = [
      header(home.cwd, { id, version: 2 }),
      userEntry('aaaaaaaa', null, 'first'),
      { ...userEntry('bbbbbbbb', 'aaaaaaaa', ''), message },
    ];
    return { path: storeSession(home, lines, fileOf(id)), roles: ['user', 'custom'] };
  },
  interrupted: (home, id) => ({
    path: storeSession(home, interrupted(home, id), fileOf(id)),
    roles: ['user', 'assistant'],
  }),
};

/** A session that ends with a tool call without result. */
const interrupted = (home: Home, id: string) => [
  header(home.cwd, { id }),
  userEntry('aaaaaaaa', null, 'first'),
  assistantEntry('bbbbbbbb', 'aaaaaaaa', '', { content: [toolCall], stopReason: 'toolUse' }),
];

const READS = [
  'get_state',
  'get_entries',
  'get_tree',
  'get_messages_page',
  'get_fork_messages',
  'get_last_assistant_text',
  'get_session_stats',
  'get_commands',
  'get_tools',
  'get_available_models',
  'list_sessions',
  'list_files',
  'preflight',
  'wait_idle',
];

const rolesOf = (messages: readonly { readonly role: string }[]) => messages.map(({ role }) => role);

itOnOneServer('the file of the session is a copy of the log')(
  '[J31] clients that may only view change no file of a session, whatever an agent would repair there',
  async () => {
    const home = newHome();
    const stored = Object.entries(STORED).map(([id, store]) => ({ id, ...store(home, id) }));
    const folder = dirname(stored[0]?.path ?? '');
    const before = contentOf(folder);
    const server = await serve(home);

    for (const { id, roles } of stored) {
      const viewer = await server.attach({ token: VIEWER, session: id, entries: 1 });
      expect({ id, roles: rolesOf((await viewer.ok({ type: 'get_messages' })).messages) }).toEqual({ id, roles });
      for (const type of READS) await viewer.ok({ type });
      expect(await viewer.refused({ type: 'export_html' })).toMatchObject({ code: 'permission_denied' });
      expect(viewer.eventTypes).not.toContain('session_repaired');
      await viewer.disconnect();
    }
    await waitUntilParked(server);
    await server.attach({ token: VIEWER, session: 'torn' });
    server.kill('SIGTERM');
    await server.exited;

    expect(contentOf(folder)).toEqual(before);
  },
);

it('[J31] loading the page as a client that may only view changes no file of the session', async () => {
  const home = newHome();
  const path = storeSession(home, [header(home.cwd)]);
  const before = contentOf(dirname(path));
  const server = await serve(home);

  await fetch(new URL('/?session=stored-1', server.url.replace(/^ws/, 'http')), {
    headers: { authorization: `Bearer ${VIEWER}` },
  });
  await waitUntil(async () => server.agents().length === 1);
  await waitUntilParked(server);

  expect(contentOf(dirname(path))).toEqual(before);
});

itOnOneServer('a session without messages leaves nothing in the cluster')(
  '[J31] a client that may only view creates no file for a session that has none',
  async () => {
    const home = newHome();
    const server = await serve(home);
    const owner = await server.attach();
    const { session } = owner.cursor;
    await owner.disconnect();
    await waitUntilParked(server);

    const viewer = await server.attach({ token: VIEWER, session });
    expect(await viewer.ok({ type: 'get_state' })).toMatchObject({ sessionId: session, messageCount: 0 });
    expect(sessionFiles(home)).toEqual([]);

    const writer = await server.attach({ session });
    await writer.run('Hi');
    await viewer.next('agent_settled');
    expect(sessionFiles(home)).toEqual([expect.stringContaining(session)]);
  },
);

it('[J31] a viewer of a run that a server crash interrupted leaves its end to the client that prompted', async () => {
  const home = newHome();
  const gate = newGate();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }] }];
  const crashed = await serve(home, { script });
  const prompting = await crashed.attach();
  const { runId } = await prompting.ok({ type: 'prompt', message: 'Hi', clientMessageId: 'mine' });
  await prompting.next('message_update');
  const { cursor } = prompting;
  crashed.kill('SIGKILL');
  await crashed.exited;
  await waitUntilParked(crashed);
  const before = contentOf(join(home.agentDir, 'server', 'runs'));

  const server = await serve(home);
  const viewer = await server.attach({ ...cursor, token: VIEWER });
  await viewer.disconnect();
  await waitUntilParked(server);
  expect(contentOf(join(home.agentDir, 'server', 'runs'))).toEqual(before);
  const resumed = await server.attach(cursor);

  const settled = { runId, errorCode: 'interrupted', clientMessageIds: ['mine'] };
  for (const client of [viewer, resumed])
    expect(client.records.filter(({ type }) => type === 'agent_settled')).toMatchObject([settled]);
});

it('[J32] an agent for clients that may only view loads no extension', async () => {
  const home = newHome();
  storeSession(home, shortConversation(home.cwd));
  const server = await serve(home, { agentArgs: ['-e', fixture('dialogs')] });

  const viewer = await server.attach({ token: VIEWER, session: 'stored-1' });
  const ofViewer = await viewer.ok({ type: 'get_commands' });
  const writer = await server.attach({ token: WRITER, session: 'stored-1' });
  const ofWriter = await writer.ok({ type: 'get_commands' });

  expect(ofViewer.commands).toEqual([]);
  expect(ofWriter.commands).toContainEqual(expect.objectContaining({ name: 'interview' }));
});

itOnOneServer('the file of the session is a copy of the log')(
  '[J33] a client that may prompt joins a viewer: the session is repaired, and both receive its run',
  async () => {
    const home = newHome();
    const path = storeSession(home, interrupted(home, 'stored-1'));
    const server = await serve(home);
    const viewer = await server.attach({ token: VIEWER, session: 'stored-1', entries: 1 });

    const writer = await server.attach({ token: WRITER, session: 'stored-1' });
    const { messages } = await viewer.next('state_synced');
    await writer.run('Hi');
    await viewer.next('agent_settled');

    expect(rolesOf(messages)).toEqual(['user', 'assistant', 'toolResult']);
    expect(viewer.eventTypes).toContain('session_repaired');
    const roles = ['user', 'assistant', 'toolResult', 'user', 'assistant'];
    for (const client of [viewer, writer])
      expect(rolesOf((await client.ok({ type: 'get_messages' })).messages)).toEqual(roles);
    const entries = viewer.records.filter(({ type }) => type === 'entry_appended').map(({ entry }) => entry);
    expect(readSessionFile(path)).toEqual(entries.slice(-readSessionFile(path).length));
    await waitUntil(async () => (await livingAgents(server)).length === 1);
  },
);

it('[J33] clients that may prompt and join a viewer at once share one agent', async () => {
  const home = newHome();
  storeSession(home, shortConversation(home.cwd));
  const server = await serve(home);
  await server.attach({ token: VIEWER, session: 'stored-1' });

  const writers = await Promise.all([1, 2, 3].map(() => server.attach({ token: WRITER, session: 'stored-1' })));
  await writers[0]?.ok({ type: 'prompt', message: 'Hi' });
  await Promise.all(writers.map((writer) => writer.next('agent_settled')));

  await waitUntil(async () => (await livingAgents(server)).length === 1);
  expect(server.agents()).toHaveLength(2);
});

it('[J33] reads and snapshots that the replaced agent has not answered come from the new one', async () => {
  const home = newHome();
  storeSession(home, shortConversation(home.cwd));
  const server = await serve(home);
  const viewer = await server.attach({ token: VIEWER, session: 'stored-1' });
  const reader = server.agents()[0]?.pid ?? Number.NaN;
  process.kill(reader, 'SIGSTOP');

  const reads = ['get_messages', 'get_entries', 'get_state'].map((type) => viewer.ok({ type }));
  const late = server.connect({ token: VIEWER, session: 'stored-1' });
  const writer = await server.attach({ token: WRITER, session: 'stored-1' });
  const [messages, entries, state] = await Promise.all(reads);
  process.kill(reader, 'SIGCONT');

  expect(messages.messages).toHaveLength(2);
  expect(entries.entries).toHaveLength(2);
  expect(state).toMatchObject({ messageCount: 2 });
  expect((await late.next('state_synced')).messages).toHaveLength(2);
  await writer.run('Hi');
  await Promise.all([viewer, late].map((client) => client.next('agent_settled')));
});

itOnOneServer('the file of the session is a copy of the log')(
  '[J33] renaming a session that is only viewed makes its agent write',
  async () => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const server = await serve(home);
    const viewer = await server.attach({ token: VIEWER, session: 'stored-1' });
    const other = await server.attach({ token: WRITER });

    await other.ok({ type: 'rename_session', sessionPath: path, name: 'Renamed' });

    expect(await viewer.ok({ type: 'get_state' })).toMatchObject({ sessionName: 'Renamed' });
    expect(readSessionFile(path).at(-1)).toMatchObject({ type: 'session_info', name: 'Renamed' });
  },
);

itOnOneServer('another program uses the file')(
  '[J34] a viewer does not keep another program from writing; the next viewer gets what that wrote',
  async () => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const server = await serve(home);
    const viewer = await server.attach({ token: VIEWER, session: 'stored-1' });

    const terminal = await openTestAgent('stdio', { home, args: ['--session', path], script: TALK });
    await terminal.peer.run('Hi');
    expect((await viewer.ok({ type: 'get_messages' })).messages).toHaveLength(2);
    const second = await server.attach({ token: VIEWER, session: 'stored-1' });
    expect((await second.ok({ type: 'get_messages' })).messages).toHaveLength(4);
    expect((await viewer.next('state_synced')).messages).toHaveLength(4);

    const writer = server.connect({ token: WRITER, session: 'stored-1' });
    await waitUntil(async () => server.agents().length > 2);
    expect((await viewer.ok({ type: 'get_messages' })).messages).toHaveLength(4);
    await terminal.close();
    await writer.next('state_synced');
    await writer.run('And?');
    await viewer.next('agent_settled');
  },
);

it('[J31] the agent of a viewer that crashes is replaced by one that only reads', async () => {
  const home = newHome();
  const path = storeSession(home, [header(home.cwd)]);
  const before = contentOf(dirname(path));
  const server = await serve(home);
  const viewer = await server.attach({ token: VIEWER, session: 'stored-1' });

  server.killAgent();
  await viewer.next('state_synced');
  await viewer.disconnect();
  await waitUntilParked(server);

  expect(server.agents()).toHaveLength(2);
  expect(contentOf(dirname(path))).toEqual(before);
});
