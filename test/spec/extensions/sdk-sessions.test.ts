import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  buildSessionContext,
  createAgentSession,
  createAgentSessionFromServices,
  createAgentSessionRuntime,
  createAgentSessionServices,
  ModelRuntime,
  migrateSessionEntries,
  parseSessionEntries,
  SessionManager,
} from '../../../src/index.ts';
import { createTestSession } from '../../support/agent/agent-session.ts';
import { newHome } from '../../support/agent/test-agent.ts';

const user = (text: string) => ({ role: 'user' as const, content: text, timestamp: 1 });
const textsOf = (manager: SessionManager) =>
  manager.buildSessionContext().messages.map((message) => JSON.stringify('content' in message ? message.content : ''));

it('[X93] a session manager writes a session without an agent, with its first entry', () => {
  const home = newHome();
  const manager = SessionManager.create(home.cwd, join(home.root, 'sessions'), { parentSession: '/earlier.jsonl' });
  const path = manager.getSessionFile() ?? '';
  expect([existsSync(path), manager.isPersisted(), manager.getLeafId()]).toEqual([false, true, null]);

  const first = manager.appendMessage(user('one'));
  manager.appendThinkingLevelChange('high');
  manager.appendModelChange('tau', 'scripted');
  const usage = {
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 2,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  manager.appendUsage('search', 'tau', 'scripted', usage);
  manager.appendCustomEntry('state', { a: 1 });
  manager.appendCustomMessageEntry('note', 'a note', true);
  manager.appendSessionInfo('named');
  manager.appendLabelChange(first, 'start');

  const read = SessionManager.open(path);
  expect(read.getEntries()).toEqual(manager.getEntries());
  expect(read.getHeader()).toMatchObject({ cwd: home.cwd, parentSession: '/earlier.jsonl' });
  expect([read.getSessionName(), read.getLabel(first), read.getSessionId()]).toEqual([
    'named',
    'start',
    manager.getSessionId(),
  ]);
  expect(read.buildSessionContext()).toMatchObject({
    thinkingLevel: 'high',
    model: { provider: 'tau', modelId: 'scripted' },
  });
  expect(read.getTree()).toMatchObject([{ entry: { id: first }, label: 'start', labelTimestamp: expect.any(String) }]);
});

it('[X93] an entry that is appended behind a torn line is kept', () => {
  const home = newHome();
  const source = SessionManager.create(home.cwd, join(home.root, 'sessions'));
  source.appendMessage(user('one'));
  const path = source.getSessionFile() ?? '';
  appendFileSync(path, '{"type":"message","id":"to');

  SessionManager.open(path).appendMessage(user('two'));

  expect(textsOf(SessionManager.open(path))).toEqual([expect.stringContaining('one'), expect.stringContaining('two')]);
});

it('[X93] the text and the date of a listed session are read once', async () => {
  const home = newHome();
  const directory = join(home.root, 'sessions');
  const manager = SessionManager.create(home.cwd, directory);
  manager.appendMessage(user('one'));
  const [info] = await SessionManager.list(home.cwd, directory);
  const { created, allMessagesText } = info ?? {};
  rmSync(manager.getSessionFile() ?? '');

  expect(allMessagesText).toBe('one');
  expect(info?.allMessagesText).toBe('one');
  expect(info?.created).toBe(created);
});

it('[X93] a session manager branches, summarises, compacts and edits', () => {
  const { cwd } = newHome();
  const manager = SessionManager.inMemory(cwd);
  const first = manager.appendMessage(user('one'));
  const second = manager.appendMessage(user('two'));
  manager.branch(first);
  manager.appendMessage(user('other'));
  expect(textsOf(manager).join()).not.toContain('two');
  manager.branchWithSummary(second, 'what happened');
  expect(textsOf(manager).join()).toContain('two');
  manager.appendCompaction('short', second, 100);
  expect(manager.buildContextEntries()[0]).toMatchObject({ type: 'compaction', summary: 'short' });
  manager.appendContextEdit(second, null);
  expect(textsOf(manager).join()).not.toContain('two');
  expect(manager.buildSessionProjection().entries.map(({ sourceEntry }) => sourceEntry.type)).toContain('compaction');
  manager.resetLeaf();

  expect([manager.getLeafId(), manager.getBranch()]).toEqual([null, []]);
  expect(() => manager.branch('nowhere')).toThrow('Entry not found: nowhere');
  expect(() => manager.appendMessage({ role: 'butler' } as never)).toThrow('role');
  expect(manager.createBranchedSession(second)).toBeUndefined();
  expect(manager.getBranch()).toHaveLength(2);
});

it('[X93] a session manager copies branches and sessions into files, and finds and lists them', async () => {
  const home = newHome();
  const directory = join(home.root, 'sessions');
  const source = SessionManager.create(home.cwd, directory);
  const first = source.appendMessage(user('one'));
  source.appendMessage(user('two'));
  source.appendLabelChange(first, 'start');
  const sourceFile = source.getSessionFile() ?? '';

  const reader = SessionManager.open(sourceFile);
  const branched = reader.createBranchedSession(first) ?? '';
  const forked = SessionManager.forkFrom(sourceFile, home.root, directory);

  expect(SessionManager.open(branched).getEntries()).toMatchObject([{ id: first }, { type: 'label', targetId: first }]);
  expect(reader.getSessionFile()).toBe(branched);
  expect(forked.getHeader()).toMatchObject({ cwd: home.root, parentSession: sourceFile });
  expect(forked.getEntries()).toEqual(source.getEntries());
  expect(SessionManager.findById(home.cwd, source.getSessionId(), directory)).toBe(sourceFile);
  const [latest] = await SessionManager.list(home.root, directory);
  expect(latest).toMatchObject({
    parentSessionPath: sourceFile,
    created: expect.any(Date),
    allMessagesText: 'one two',
  });
  expect(await SessionManager.listAll(directory)).toHaveLength(3);
});

it('[X93] an agent continues a prepared session, and the manager writes through it', async () => {
  const home = newHome();
  const manager = SessionManager.create(home.cwd, join(home.root, 'sessions'));
  const first = manager.appendMessage(user('remember me'));
  manager.appendMessage(user('forget me'));
  manager.branch(first);
  const file = manager.getSessionFile() ?? '';

  const { session } = await createTestSession({ sessionManager: manager }, home);
  await session.prompt('say hello');
  manager.appendCustomEntry('state', { a: 1 });

  expect([session.sessionFile, session.messages.length]).toEqual([file, 3]);
  expect(() => SessionManager.open(file).appendSessionInfo('no')).toThrow('in use');
  expect(() => manager.newSession()).toThrow('AgentSessionRuntime');
  expect(readFileSync(file, 'utf8')).toContain('"customType":"state"');
  const memory = SessionManager.inMemory(home.cwd, {}, session.sessionManager.getEntries());
  const copy = await createTestSession({ sessionManager: memory }, home);
  expect(copy.session.messages).toHaveLength(3);
});

it('[X96] a runtime replaces its agent for new, other, forked and imported sessions', async () => {
  const home = newHome();
  const cwd = realpathSync(home.cwd);
  const directory = join(home.root, 'sessions');
  const modelRuntime = await ModelRuntime.create({ authPath: join(home.agentDir, 'auth.json') });
  const events: string[] = [];
  const runtime = await createAgentSessionRuntime(
    async ({ sessionManager, sessionStartEvent }) => {
      const services = await createAgentSessionServices({
        cwd,
        agentDir: home.agentDir,
        modelRuntime,
        resourceLoaderOptions: {
          extensionFactories: [
            (pi) => {
              pi.on('session_start', ({ reason }) => void events.push(reason));
              pi.on('session_before_switch', () => ({ cancel: events.length > 4 }));
            },
          ],
        },
      });
      const model = modelRuntime.getModel('tau', 'scripted');
      const created = await createAgentSessionFromServices({ services, sessionManager, sessionStartEvent, model });
      await created.session.bindExtensions({});
      return { ...created, services, diagnostics: services.diagnostics };
    },
    { cwd, agentDir: home.agentDir, sessionManager: SessionManager.create(cwd, directory) },
  );
  await runtime.session.prompt('say hello');
  const { sessionFile: firstFile = '', sessionId } = runtime.session;

  await runtime.newSession({ setup: async (manager) => void manager.appendMessage(user('from before')) });
  expect(runtime.session.messages).toHaveLength(1);
  await runtime.switchSession(firstFile);
  expect(runtime.session.sessionId).toBe(sessionId);
  const [point] = runtime.session.getUserMessagesForForking();
  expect(await runtime.fork(point?.entryId ?? '')).toEqual({ cancelled: false, selectedText: 'say hello' });
  const exported = runtime.session.exportToJsonl(join(home.root, 'exported.jsonl'));
  await runtime.importFromJsonl(exported);

  expect(events).toEqual(['startup', 'new', 'resume', 'fork', 'resume']);
  expect(await runtime.newSession()).toEqual({ cancelled: true });
  await runtime.dispose();
});

async function startRuntime({ isCancelled = (): boolean => false, beforeCreate = () => {} } = {}) {
  const home = newHome();
  const cwd = realpathSync(home.cwd);
  const directory = join(home.root, 'sessions');
  const modelRuntime = await ModelRuntime.create({ authPath: join(home.agentDir, 'auth.json') });
  const live = new Set<string>();
  const runtime = await createAgentSessionRuntime(
    async ({ sessionManager, sessionStartEvent }) => {
      beforeCreate();
      const services = await createAgentSessionServices({
        cwd,
        agentDir: home.agentDir,
        modelRuntime,
        resourceLoaderOptions: {
          extensionFactories: [(pi) => pi.on('session_before_switch', () => ({ cancel: isCancelled() }))],
        },
      });
      const model = modelRuntime.getModel('tau', 'scripted');
      const created = await createAgentSessionFromServices({ services, sessionManager, sessionStartEvent, model });
      await created.session.bindExtensions({});
      const { sessionId } = created.session;
      live.add(sessionId);
      const dispose = created.session.dispose.bind(created.session);
      created.session.dispose = () => {
        live.delete(sessionId);
        return dispose();
      };
      return { ...created, services, diagnostics: services.diagnostics };
    },
    { cwd, agentDir: home.agentDir, sessionManager: SessionManager.create(cwd, directory) },
  );
  onTestFinished(() => runtime.dispose());
  return { runtime, home, directory, live };
}

it('[X96] an import overwrites no session, is private and copies nothing if it is cancelled', async () => {
  let isCancelled = true;
  const { runtime, home, directory } = await startRuntime({ isCancelled: () => isCancelled });
  await runtime.session.prompt('say hello');
  const { sessionFile = '' } = runtime.session;
  const other = SessionManager.create(home.cwd, home.root);
  other.appendMessage(user('imported'));
  const source = join(home.root, basename(sessionFile));
  writeFileSync(source, readFileSync(other.getSessionFile() ?? ''));
  chmodSync(source, 0o644);
  const before = readFileSync(sessionFile, 'utf8');

  expect(await runtime.importFromJsonl(source)).toEqual({ cancelled: true });
  expect(readdirSync(directory).filter((name) => name.endsWith('.jsonl'))).toEqual([basename(sessionFile)]);
  isCancelled = false;
  expect(await runtime.importFromJsonl(source)).toEqual({ cancelled: false });

  expect(readFileSync(sessionFile, 'utf8')).toBe(before);
  expect(runtime.session.messages).toMatchObject([{ content: [{ text: 'imported' }] }]);
  expect(statSync(runtime.session.sessionFile ?? '').mode & 0o777).toBe(0o600);
});

it('[X96] concurrent session changes leave one agent', async () => {
  const { runtime, live } = await startRuntime();

  await Promise.all([runtime.newSession(), runtime.newSession()]);

  expect([...live]).toEqual([runtime.session.sessionId]);
  await Promise.all([runtime.newSession(), runtime.dispose()]);
  expect([...live]).toEqual([]);
});

it('[X96] a session can be changed after an agent could not be created', async () => {
  let failure: Error | undefined;
  const { runtime, live } = await startRuntime({
    beforeCreate: () => {
      if (failure) throw failure;
    },
  });
  const { session } = runtime;
  let invalidated = 0;
  runtime.setBeforeSessionInvalidate(() => void invalidated++);
  failure = new Error('no agent');

  await expect(runtime.newSession()).rejects.toThrow('no agent');
  expect([runtime.session, live.size]).toEqual([session, 0]);
  failure = undefined;
  expect(await runtime.newSession()).toEqual({ cancelled: false });

  expect([[...live], invalidated]).toEqual([[runtime.session.sessionId], 1]);
});

it('[X98] entries of older files are migrated and become a conversation', () => {
  const lines = parseSessionEntries(
    [
      '{"type":"session","id":"a","timestamp":"","cwd":"/"}',
      '{"type":"message","timestamp":"2024-01-01T00:00:00Z","message":{"role":"user","content":"hi","timestamp":1}}',
      'torn',
    ].join('\n'),
  );

  migrateSessionEntries(lines);

  const [header, entry] = lines as [{ version: number }, { id: string }];
  expect([lines.length, header.version]).toEqual([2, 3]);
  expect(buildSessionContext([entry as never], entry.id)).toMatchObject({
    messages: [{ role: 'user', content: 'hi' }],
  });
  expect(buildSessionContext([entry as never], null).messages).toEqual([]);
});

it('[X93] a session manager of another program is rejected', async () => {
  await expect(createAgentSession({ sessionManager: {} as never })).rejects.toThrow("one of tau's own");
});
