import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SessionManager, type ToolDefinition } from '../../../src/index.ts';
import { createTestSession } from '../../support/agent/agent-session.ts';
import { toolCallStep } from '../../support/tools/host-tools.ts';
import { newHome, sessionFiles, readSessionFile } from '../../support/agent/test-agent.ts';

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

const named = (name: string): ToolDefinition => ({ ...greet, name });

it('[V15] tools of the program are offered, run in it, and are given the context of extensions', async () => {
  const { session, home, extensionsResult } = await createTestSession({
    customTools: [greet],
    answers: [{ steps: [toolCallStep('greet', { name: 'Ann' }), toolCallStep('greet', { name: 5 })] }, { text: 'done' }],
  });

  await session.prompt('greet her');

  expect(session.getActiveToolNames()).toEqual(['read', 'bash', 'edit', 'write', 'greet']);
  expect(extensionsResult).toEqual({ extensions: [], errors: [] });
  const [, , good, bad] = session.messages;
  expect(good).toMatchObject({ role: 'toolResult', isError: false, details: { name: 'Ann' } });
  expect(JSON.stringify(good)).toContain(`Hello, Ann, from ${home.cwd} (`);
  expect(bad).toMatchObject({ role: 'toolResult', isError: true });
});

it('[V15] a tool of the program stands for one of the same name', async () => {
  const bash = { ...named('bash'), execute: async () => ({ content: [{ type: 'text' as const, text: 'mine' }] }) };
  const { session } = await createTestSession({
    customTools: [bash],
    answers: [{ steps: [toolCallStep('bash', { name: 'x' })] }, { text: 'done' }],
  });

  await session.prompt('go');

  expect(session.messages[2]).toMatchObject({ content: [{ text: 'mine' }] });
});

it.each<[string, object, string[]]>([
  ['names', { tools: ['read', 'greet'] }, ['read', 'greet']],
  ['names with changes', { tools: ['+ls', '-bash'] }, ['read', 'edit', 'write', 'ls', 'greet']],
  ['no names at all', { tools: [] }, []],
  ['tools', { tools: [named('read'), named('grep'), named('wave')] }, ['read', 'grep', 'greet', 'wave']],
  [
    'the usual tools',
    { tools: ['read', 'bash', 'edit', 'write'].map(named) },
    ['read', 'bash', 'edit', 'write', 'greet'],
  ],
  ['all left out', { noTools: 'all' }, []],
  ["tau's own left out", { noTools: 'builtin' }, ['greet']],
  ['some left out', { excludeTools: ['bash', 'gr*'] }, ['read', 'edit', 'write']],
])('[V15] the model is offered what is chosen: %s', async (_how, wish, expected) => {
  const { session } = await createTestSession({ customTools: [greet], ...wish });

  expect(session.getActiveToolNames()).toEqual(expected);
});

it.each<[string, object, string]>([
  ['a tool without a name', { customTools: [{ ...greet, name: '' }] }, 'A tool needs a name'],
  ['a tool that does nothing', { customTools: [{ ...greet, execute: undefined }] }, 'no execute function'],
  ['a session of another program', { sessionManager: {} }, "one of tau's own"],
  ['a folder that is none', { cwd: '/nowhere/at/all' }, 'Not a folder'],
  ['a model that nobody knows', { model: 'nobody/knows-this' }, 'knows-this'],
  ['a thinking level that is none', { thinkingLevel: 'brilliant' }, 'Not a thinking level'],
  ['loaded extensions', { resourceLoader: { getExtensions: () => ({ extensions: [{}] }) } }, 'cannot be used'],
])('[V15] what cannot be honoured is refused: %s', async (_what, options, sentence) => {
  const home = newHome();

  await expect(createTestSession(options, home)).rejects.toThrow(sentence);
  expect(sessionFiles(home)).toEqual([]);
});

it('[V15] a loader of the program takes the place of what is found in folders', async () => {
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
  for (const words of ['You are terse.', 'And kind.', 'brought along', 'my skill'])
    expect(systemPrompt).toContain(words);
  expect(systemPrompt).not.toContain('found in the folder');
});

it('[V15] words that call a template are plain words where that is asked for', async () => {
  const home = newHome();
  mkdirSync(join(home.agentDir, 'prompts'), { recursive: true });
  writeFileSync(join(home.agentDir, 'prompts', 'greet.md'), 'say hello');
  const { session } = await createTestSession({}, home);

  await session.prompt('/greet', { expandPromptTemplates: false });
  await session.prompt('/greet');

  expect(session.getUserMessagesForForking().map(({ text }) => text)).toEqual(['/greet', 'say hello']);
});

it('[V15] settings of the program count in place of those in files', async () => {
  const { session } = await createTestSession({
    settingsManager: {
      getSteeringMode: () => 'all',
      getFollowUpMode: () => 'all',
      getCompactionEnabled: () => false,
      getRetryEnabled: () => false,
    },
  });
  const asked = [session.steeringMode, session.followUpMode, session.autoCompactionEnabled, session.autoRetryEnabled];

  await session.newSession();

  expect(asked).toEqual(['all', 'all', false, false]);
  expect(session.autoRetryEnabled).toBe(false);
});

it('[V15] keys of the program are asked for the model that was named', async () => {
  const asked: string[] = [];
  const authStorage = {
    getApiKey: async (provider: string) => {
      asked.push(provider);
      return 'key-of-this-test';
    },
  };
  const { session, home } = await createTestSession({
    model: { provider: 'anthropic', id: 'claude-sonnet-4-5' },
    authStorage,
    modelRegistry: {},
    modelRuntime: {},
  });

  expect([asked, session.model?.provider]).toEqual([['anthropic'], 'anthropic']);
  await session.dispose();
  expect(
    sessionFiles(home)
      .map((file) => JSON.stringify(readSessionFile(file)))
      .join(''),
  ).not.toContain('key-of-this-test');
});

it('[V15] a session is kept in its file unless it is to leave no trace', async () => {
  const kept = await createTestSession();
  const forgotten = await createTestSession({ sessionManager: SessionManager.inMemory() });
  const elsewhere = newHome();
  const chosen = await createTestSession(
    { sessionManager: SessionManager.create(elsewhere.cwd, join(elsewhere.root, 'mine')) },
    elsewhere,
  );

  for (const { session } of [kept, forgotten, chosen]) await session.prompt('say hello');

  expect(sessionFiles(kept.home)).toEqual([kept.session.sessionFile]);
  expect([forgotten.session.sessionFile, forgotten.session.sessionManager.isPersisted()]).toEqual([undefined, false]);
  expect(sessionFiles(forgotten.home)).toEqual([]);
  expect(chosen.session.sessionManager.getSessionDir()).toBe(join(elsewhere.root, 'mine'));
});

it('[V15] a manager names its session before it is open, and reads in it afterwards', async () => {
  const { cwd } = newHome();
  const manager = SessionManager.inMemory(cwd);
  const id = manager.getSessionId();
  expect([manager.getCwd(), manager.getSessionFile(), manager.getSessionDir()]).toEqual([cwd, undefined, '']);
  expect(() => manager.getEntries()).toThrow('not open yet');

  const { session } = await createTestSession({ sessionManager: manager });
  await session.prompt('say hello');

  expect([session.sessionId, manager.getSessionId(), session.sessionManager]).toEqual([id, id, manager]);
  expect(manager.buildSessionContext().messages).toEqual(session.messages);
  expect(manager.getBranch().map(({ type }) => type)).toContain('message');
  await expect(createTestSession({ sessionManager: manager })).rejects.toMatchObject({ code: 'session_in_use' });
});

it('[V15] sessions are opened, continued, forked and listed', async () => {
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
  const forked = await createTestSession({ sessionManager: SessionManager.forkFrom(file, other) }, home);
  expect(forked.session.sessionManager.getHeader()).toMatchObject({ cwd: other, parentSession: file });
  expect(forked.session.messages).toHaveLength(2);
  expect(await SessionManager.list(home.cwd, sessions)).toMatchObject([
    { path: file, firstMessage: 'say hello', messageCount: 2, modified: expect.any(Date) },
  ]);
  expect(await SessionManager.listAll(join(sessions, '..'))).toHaveLength(2);
});

it('[V15] a session that belongs to another folder is refused, and one that is missing is made', async () => {
  const home = newHome();
  const path = join(home.root, 'mine.jsonl');
  const made = await createTestSession({ cwd: home.cwd, sessionManager: SessionManager.open(path) }, home);
  await made.session.prompt('say hello');
  await made.session.dispose();

  await expect(createTestSession({ cwd: home.root, sessionManager: SessionManager.open(path) }, home)).rejects.toThrow(
    'belongs to',
  );
  expect(readSessionFile(path)[0]).toMatchObject({ type: 'session', cwd: home.cwd });
});
