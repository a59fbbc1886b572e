import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SessionManager, type ToolDefinition } from '../../../src/index.ts';
import { createTestSession } from '../../support/agent/agent-session.ts';
import { newHome, readSessionFile, sessionFiles } from '../../support/agent/test-agent.ts';
import { toolCallStep } from '../../support/tools/host-tools.ts';

const greet: ToolDefinition = {
  name: 'greet',
  label: 'Greets',
  description: 'Greets somebody',
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  execute: async (toolCallId, { name }, signal, onUpdate, ctx) => {
    onUpdate?.({ content: [{ type: 'text', text: 'about to' }] });
    const text = `Hello, ${name}, from ${ctx.cwd} (${toolCallId}, ${signal?.aborted})`;
    return { content: [{ type: 'text', text }], details: { name } };
  },
};

const greetAs = (name: string): ToolDefinition => ({ ...greet, name });

it('[V15] custom tools are offered, run in the process and get the extension context', async () => {
  const { session, home, extensionsResult } = await createTestSession({
    customTools: [greet],
    answers: [
      { steps: [toolCallStep('greet', { name: 'Ann' }), toolCallStep('greet', { name: 5 })] },
      { text: 'done' },
    ],
  });

  await session.prompt('greet her');

  expect(session.getActiveToolNames()).toEqual(['read', 'bash', 'edit', 'write', 'greet']);
  expect([extensionsResult.extensions, extensionsResult.errors]).toEqual([[], []]);
  const [, , good, bad] = session.messages;
  expect(good).toMatchObject({ role: 'toolResult', isError: false, details: { name: 'Ann' } });
  expect(JSON.stringify(good)).toContain(`Hello, Ann, from ${home.cwd} (`);
  expect(bad).toMatchObject({ role: 'toolResult', isError: true });
});

it('[V15] a custom tool replaces the built-in tool of the same name', async () => {
  const bash = { ...greetAs('bash'), execute: async () => ({ content: [{ type: 'text' as const, text: 'mine' }] }) };
  const { session } = await createTestSession({
    customTools: [bash],
    answers: [{ steps: [toolCallStep('bash', { name: 'x' })] }, { text: 'done' }],
  });

  await session.prompt('go');

  expect(session.messages[2]).toMatchObject({ content: [{ text: 'mine' }] });
});

it.each<[string, object, string[]]>([
  ['names', { tools: ['read', 'greet'] }, ['read', 'greet']],
  ['additions and removals', { tools: ['+ls', '-bash'] }, ['read', 'edit', 'write', 'ls', 'greet']],
  ['an empty list', { tools: [] }, []],
  ['definitions', { tools: [greetAs('read'), greetAs('grep'), greetAs('wave')] }, ['read', 'grep', 'greet', 'wave']],
  [
    'definitions of the default tools',
    { tools: ['read', 'bash', 'edit', 'write'].map(greetAs) },
    ['read', 'bash', 'edit', 'write', 'greet'],
  ],
  ['no tools at all', { noTools: 'all' }, []],
  ['no built-in tools', { noTools: 'builtin' }, ['greet']],
  ['exclusion patterns', { excludeTools: ['bash', 'gr*'] }, ['read', 'edit', 'write']],
])('[V15] tool options select the active tools: %s', async (_label, options, expected) => {
  const { session } = await createTestSession({ customTools: [greet], ...options });

  expect(session.getActiveToolNames()).toEqual(expected);
});

it.each<[string, object, string]>([
  ['a tool without a name', { customTools: [{ ...greet, name: '' }] }, 'A tool needs a name'],
  ['a tool without execute', { customTools: [{ ...greet, execute: undefined }] }, 'no execute function'],
  ['a foreign session manager', { sessionManager: {} }, "one of tau's own"],
  ['a path that is not a folder', { cwd: '/nowhere/at/all' }, 'Not a folder'],
  ['an unknown model', { model: 'nobody/knows-this' }, 'knows-this'],
  ['an unknown thinking level', { thinkingLevel: 'brilliant' }, 'Not a thinking level'],
  ['loaded extensions', { resourceLoader: { getExtensions: () => ({ extensions: [{}] }) } }, 'cannot be used'],
])('[V15] an option that cannot be honoured is rejected: %s', async (_label, options, errorText) => {
  const home = newHome();

  await expect(createTestSession(options, home)).rejects.toThrow(errorText);
  expect(sessionFiles(home)).toEqual([]);
});

it('[V15] a resource loader of the program replaces the resources found in folders', async () => {
  const home = newHome();
  const skill = join(home.root, 'mine', 'SKILL.md');
  const template = join(home.root, 'greet.md');
  mkdirSync(join(home.root, 'mine'));
  writeFileSync(skill, '---\nname: mine\ndescription: my skill\n---\nDo it');
  writeFileSync(template, '---\ndescription: greets\n---\nsay $1');
  writeFileSync(join(home.cwd, 'AGENTS.md'), 'found in the folder');
  mkdirSync(join(home.agentDir, 'prompts'), { recursive: true });
  writeFileSync(join(home.agentDir, 'prompts', 'found.md'), 'found');
  const { session } = await createTestSession(
    {
      resourceLoader: {
        getExtensions: () => ({ extensions: [] }),
        getSkills: () => ({ skills: [{ filePath: skill }] }),
        getPrompts: () => ({ prompts: [{ filePath: template }] }),
        getAgentsFiles: () => ({ agentsFiles: [{ path: '/virtual/AGENTS.md', content: 'brought along' }] }),
        getSystemPrompt: () => 'You are terse.',
        getAppendSystemPrompt: () => ['And kind.'],
      },
    },
    home,
  );

  await session.prompt('/greet hello');

  expect(session.getLastAssistantText()).toBe('hello');
  expect(session.promptTemplates).toMatchObject([{ name: 'greet', description: 'greets', content: 'say $1' }]);
  const { resourceLoader, systemPrompt } = session;
  expect(resourceLoader.getSkills().skills).toMatchObject([{ name: 'mine', filePath: skill }]);
  expect(resourceLoader.getAgentsFiles().agentsFiles).toEqual([
    { path: '/virtual/AGENTS.md', content: 'brought along' },
  ]);
  expect([resourceLoader.getSystemPrompt(), resourceLoader.getAppendSystemPrompt()]).toEqual([
    'You are terse.',
    ['And kind.'],
  ]);
  for (const text of ['You are terse.', 'And kind.', 'brought along', 'my skill']) expect(systemPrompt).toContain(text);
  expect(systemPrompt).not.toContain('found in the folder');
});

it('[V15] with `expandPromptTemplates: false` a template call is sent as plain text', async () => {
  const home = newHome();
  mkdirSync(join(home.agentDir, 'prompts'), { recursive: true });
  writeFileSync(join(home.agentDir, 'prompts', 'greet.md'), 'say hello');
  const { session } = await createTestSession({}, home);

  await session.prompt('/greet', { expandPromptTemplates: false });
  await session.prompt('/greet');

  expect(session.getUserMessagesForForking().map(({ text }) => text)).toEqual(['/greet', 'say hello']);
});

it('[V15] a settings manager of the program overrides the settings files', async () => {
  const { session } = await createTestSession({
    settingsManager: {
      getSteeringMode: () => 'all',
      getFollowUpMode: () => 'all',
      getCompactionEnabled: () => false,
      getRetryEnabled: () => false,
    },
  });
  const observed = [
    session.steeringMode,
    session.followUpMode,
    session.autoCompactionEnabled,
    session.autoRetryEnabled,
  ];

  await session.newSession();

  expect(observed).toEqual(['all', 'all', false, false]);
  expect(session.autoRetryEnabled).toBe(false);
});

it('[V15] `authStorage` supplies the key of the requested model, and the key is not stored', async () => {
  const observed: string[] = [];
  const authStorage = {
    getApiKey: async (provider: string) => {
      observed.push(provider);
      return 'key-of-this-test';
    },
  };
  const { session, home } = await createTestSession({
    model: { provider: 'anthropic', id: 'claude-sonnet-4-5' },
    authStorage,
  });

  expect([observed, session.model?.provider]).toEqual([['anthropic'], 'anthropic']);
  await session.dispose();
  expect(
    sessionFiles(home)
      .map((file) => JSON.stringify(readSessionFile(file)))
      .join(''),
  ).not.toContain('key-of-this-test');
});

it('[V15] a session is stored in its file unless its manager is in memory', async () => {
  const persisted = await createTestSession();
  const inMemory = await createTestSession({ sessionManager: SessionManager.inMemory() });
  const elsewhere = newHome();
  const chosen = await createTestSession(
    { sessionManager: SessionManager.create(elsewhere.cwd, join(elsewhere.root, 'mine')) },
    elsewhere,
  );

  for (const { session } of [persisted, inMemory, chosen]) await session.prompt('say hello');

  expect(sessionFiles(persisted.home)).toEqual([persisted.session.sessionFile]);
  expect([inMemory.session.sessionFile, inMemory.session.sessionManager.isPersisted()]).toEqual([undefined, false]);
  expect(sessionFiles(inMemory.home)).toEqual([]);
  expect(chosen.session.sessionManager.getSessionDir()).toBe(join(elsewhere.root, 'mine'));
});

it('[V15] a session manager has an id before the session opens, and entries afterwards', async () => {
  const { cwd } = newHome();
  const manager = SessionManager.inMemory(cwd);
  const id = manager.getSessionId();
  expect([manager.getCwd(), manager.getSessionFile(), manager.getSessionDir()]).toEqual([cwd, undefined, '']);
  expect([manager.getEntries(), manager.getLeafId()]).toEqual([[], null]);

  const { session } = await createTestSession({ sessionManager: manager });
  await session.prompt('say hello');

  expect([session.sessionId, manager.getSessionId(), session.sessionManager]).toEqual([id, id, manager]);
  expect(manager.buildSessionContext().messages).toEqual(session.messages);
  expect(manager.getBranch().map(({ type }) => type)).toContain('message');
  await expect(createTestSession({ sessionManager: manager })).rejects.toMatchObject({ code: 'session_in_use' });
});

it('[V15] a session manager opens, continues, forks and lists sessions', async () => {
  const home = newHome();
  const first = await createTestSession({ sessionManager: SessionManager.create(home.cwd) }, home);
  await first.session.prompt('say hello');
  const { sessionFile: file = '' } = first.session;
  const sessions = join(file, '..');
  await expect(createTestSession({ sessionManager: SessionManager.open(file) }, home)).rejects.toMatchObject({
    code: 'session_in_use',
  });
  await first.session.dispose();

  const opened = await createTestSession({ sessionManager: SessionManager.open(file) }, home);
  expect([opened.session.messages.length, opened.session.sessionManager.getCwd()]).toEqual([2, home.cwd]);
  await opened.session.dispose();
  const continued = await createTestSession({ sessionManager: SessionManager.continueRecent(home.cwd) }, home);
  expect(continued.session.sessionFile).toBe(file);
  await continued.session.dispose();
  const other = join(realpathSync(home.root), 'other');
  mkdirSync(other);
  const forked = await createTestSession({ sessionManager: SessionManager.forkFrom(file, other, sessions) }, home);
  expect(forked.session.sessionManager.getHeader()).toMatchObject({ cwd: other, parentSession: file });
  expect(forked.session.messages).toHaveLength(2);
  expect(await SessionManager.list(home.cwd, sessions)).toMatchObject([
    { path: file, firstMessage: 'say hello', messageCount: 2, modified: expect.any(Date) },
  ]);
  expect(await SessionManager.listAll(join(sessions, '..'))).toHaveLength(2);
});

it('[V15] a session of another folder is rejected, and a missing session file is created', async () => {
  const home = newHome();
  const path = join(home.root, 'mine.jsonl');
  const createdFile = await createTestSession({ cwd: home.cwd, sessionManager: SessionManager.open(path) }, home);
  await createdFile.session.prompt('say hello');
  await createdFile.session.dispose();

  await expect(createTestSession({ cwd: home.root, sessionManager: SessionManager.open(path) }, home)).rejects.toThrow(
    'belongs to',
  );
  expect(readSessionFile(path)[0]).toMatchObject({ type: 'session', cwd: home.cwd });
});
