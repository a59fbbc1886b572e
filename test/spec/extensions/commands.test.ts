import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { SlashCommand } from '../../../src/protocol/generated/vocabulary.ts';
import {
  allNotifications,
  allUiRequests,
  answerDialog,
  homeWithCommands,
  nextNotification,
  nextUiRequest,
  userExtension,
  waitForFileCode,
} from '../../support/agent/extensions.ts';
import { userTexts } from '../../support/agent/run-records.ts';
import { newGate, newHome, openTestAgent, type TestAgent } from '../../support/agent/test-agent.ts';
import { writeFiles } from '../../support/agent/user-files.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

const errors = (records: readonly WireRecord[]) => records.filter(({ type }) => type === 'extension_error');

verifies('P15 P16', 'a command runs at once during a run, and the model does not get it', async ({ open }) => {
  const { home } = homeWithCommands({ hello: 'tell(ctx, { args, idle: ctx.isIdle() });' });
  const gate = newGate();
  const { peer } = await open({ home, script: [{ steps: [{ text: 'one ' }, { await: gate.path }, { text: 'two' }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  const response = await peer.ok({ type: 'prompt', message: '/hello there' });
  const state = await peer.ok({ type: 'get_state' });
  gate.open();
  await peer.next('agent_settled');

  expect(response).toEqual({ disposition: 'handled' });
  expect(allNotifications(peer)).toEqual([{ args: 'there', idle: false }]);
  expect(state).toMatchObject({ isStreaming: true, pendingMessageCount: 0 });
  expect(userTexts(peer.records)).toEqual(['go']);
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'one two' });
});

/** Checks that extension commands are rejected, idle and during a run, and unknown commands are queued. */
const rejectsCommands =
  (type: 'steer' | 'follow_up') =>
  async ({ open }: AgentFixture) => {
    const { home } = homeWithCommands({ hello: 'tell(ctx, args);' });
    const gate = newGate();
    const { peer } = await open({
      home,
      script: [{ steps: [{ text: 'one' }, { await: gate.path }] }, { text: 'two' }],
    });

    const idle = await peer.refused({ type, message: '/hello' });
    await peer.ok({ type: 'prompt', message: 'go' });
    await peer.next('message_update');
    const busy = await peer.refused({ type, message: '/hello there' });
    await peer.ok({ type, message: '/unknown is for the model' });
    gate.open();
    await peer.next('agent_settled');

    const text = 'Extension command "/hello" cannot be queued. Use prompt() or execute the command when not streaming.';
    for (const rejection of [idle, busy]) expect(rejection).toMatchObject({ code: 'invalid_params', error: text });
    expect(userTexts(peer.records)).toEqual(['go', '/unknown is for the model']);
    expect(allUiRequests(peer, 'notify')).toEqual([]);
  };

verifies('P22', 'steer rejects an extension command', rejectsCommands('steer'));
verifies('P26', 'follow_up rejects an extension command', rejectsCommands('follow_up'));

verifies('P15', 'abort_and_prompt stops the run, then runs the command', async ({ open }) => {
  const { home } = homeWithCommands({ hello: 'tell(ctx, { args, idle: ctx.isIdle() });' });
  const { peer } = await open({ home, script: [{ steps: [{ text: 'one' }, { stall: true }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  const response = await peer.ok({ type: 'abort_and_prompt', message: '/hello' });

  expect(response).toEqual({ disposition: 'handled' });
  expect(await peer.find('agent_settled')).toMatchObject({ outcome: 'aborted' });
  expect(allNotifications(peer)).toEqual([{ args: '', idle: true }]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true });
});

for (const message of ['/hell', '/hellos', '/ hello', ' /hello', 'say /hello', '/', '/Hello']) {
  verifies('P15', `${JSON.stringify(message)} names no command and goes to the model`, async ({ open }) => {
    const { home } = homeWithCommands({ hello: 'tell(ctx, args);' });
    const { peer } = await open({ home, script: [{ text: 'well' }] });

    const records = await peer.run(message);

    expect(userTexts(records)).toEqual([message]);
    expect(allUiRequests(peer, 'notify')).toEqual([]);
  });
}

verifies('P15 N2', 'the text after the command name is passed unchanged', async ({ open }) => {
  const { home } = homeWithCommands({ hello: 'tell(ctx, args);', 'a:b.c': 'tell(ctx, "odd");' });
  const { peer } = await open({ home });

  for (const message of ['/hello', '/hello ', '/hello  two  spaces ', '/hello\nnext line', '/hello\ta', '/a:b.c'])
    await peer.ok({ type: 'prompt', message });

  expect(allNotifications(peer)).toEqual(['', '', ' two  spaces ', 'next line', 'a', 'odd']);
});

verifies('N4 N5 N8 N9', 'commands are listed with their source; duplicate names get numbers', async ({ open }) => {
  const home = newHome();
  const command = (word: string, description = '') =>
    `export default (pi) => pi.registerCommand('twice', { ${description} handler: async (_args, ctx) => ctx.ui.notify('"${word}"') });`;
  const paths = [
    userExtension(home, 'a.ts', command('one', "description: 'Does it twice',")),
    userExtension(home, 'b.ts', command('two')),
  ];
  const { peer } = await open({ home });

  const { commands } = await peer.ok({ type: 'get_commands' });
  for (const name of ['twice:1', 'twice:2']) await peer.ok({ type: 'prompt', message: `/${name}` });

  const baseDir = home.agentDir;
  const found = (path = '') => ({
    source: 'extension',
    path,
    sourceInfo: { path, source: 'auto', scope: 'user', origin: 'top-level', baseDir },
  });
  expect(commands).toEqual([
    { name: 'twice:1', description: 'Does it twice', ...found(paths[0]) },
    { name: 'twice:2', ...found(paths[1]) },
  ]);
  expect(allNotifications(peer)).toEqual(['one', 'two']);
});

verifies('N10', 'the source of a command shows whether its extension was discovered or named', async ({ open }) => {
  const home = newHome();
  const registering = (name: string) => `export default (pi) => pi.registerCommand('${name}', { handler() {} });`;
  writeFiles(home, {
    'agent/extensions/folder/index.ts': registering('user'),
    'project/.pi/extensions/one.ts': registering('project'),
    'elsewhere/named.ts': registering('named'),
  });
  const { peer } = await open({ home, args: ['--approve', '--extension', '../elsewhere/named.ts'] });

  const { commands } = await peer.ok({ type: 'get_commands' });

  const sources = (commands as SlashCommand[]).map(({ name, sourceInfo }) => [
    name,
    sourceInfo?.source,
    sourceInfo?.baseDir,
  ]);
  expect(sources).toEqual([
    ['project', 'auto', join(home.cwd, '.pi')],
    ['user', 'auto', home.agentDir],
    ['named', 'local', join(home.root, 'elsewhere')],
  ]);
});

verifies(
  'X3 P15',
  'a command that opens a dialog is answered at once and blocks no other command',
  async ({ open }) => {
    const { home } = homeWithCommands({ ask: "tell(ctx, await ctx.ui.input('Name?'));" });
    const { peer } = await open({ home, script: [{ text: 'well' }] });

    const response = await peer.ok({ type: 'prompt', message: '/ask' });
    const { id } = await nextUiRequest(peer, 'input');
    await peer.run('meanwhile');
    await peer.ok({ type: 'set_session_name', name: 'also meanwhile' });
    peer.send({ type: 'extension_ui_response', id, value: 'Ada' });

    expect(response).toEqual({ disposition: 'handled' });
    expect(await nextNotification(peer)).toBe('Ada');
  },
);

verifies('X7', 'an abort cancels the dialog of a command, which then gets undefined', async ({ open }) => {
  const { home } = homeWithCommands({ ask: "tell(ctx, (await ctx.ui.input('Name?')) ?? 'nobody');" });
  const { peer } = await open({ home });
  await peer.ok({ type: 'prompt', message: '/ask' });
  await nextUiRequest(peer, 'input');

  await peer.ok({ type: 'abort' });

  expect(await nextNotification(peer)).toBe('nobody');
});

verifies('P16', 'a command reaches the model with sendMessage', async ({ open }) => {
  const { home } = homeWithCommands({
    say: "pi.sendMessage({ customType: 'note', content: args, display: true }, { triggerTurn: true });",
  });
  const { peer } = await open({ home, script: [{ text: 'I see' }] });

  await peer.ok({ type: 'prompt', message: '/say the sky is blue' });
  await peer.next('agent_settled');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages).toMatchObject([
    { role: 'custom', customType: 'note', content: 'the sky is blue', display: true },
    { role: 'assistant', content: [{ text: 'I see' }] },
  ]);
});

verifies('X45', 'newSession switches to a new session and runs its callbacks there', async ({ open }) => {
  const { home } = homeWithCommands({
    fresh: `
      const before = ctx.sessionManager.getSessionId();
      const moved = await ctx.newSession({
        parentSession: ctx.sessionManager.getSessionFile(),
        setup: async (session) => tell(ctx, { setup: session.getSessionId() !== before }),
        withSession: async (next) => {
          pi.appendEntry('made-by', { command: 'fresh' });
          tell(next, { parent: next.sessionManager.getHeader().parentSession, entries: next.sessionManager.getEntryCount() > 0 });
        },
      });
      tell(ctx, { moved, isSame: ctx.sessionManager.getSessionId() === before });`,
  });
  const { peer, sessionFiles } = await open({ home, script: [{ text: 'one' }, { text: 'two' }] });
  await peer.run('hello');
  const [first] = sessionFiles();

  await peer.ok({ type: 'prompt', message: '/fresh' });
  const all = [await nextNotification(peer), await nextNotification(peer), await nextNotification(peer)];
  await peer.run('again');

  expect(all).toEqual([
    { setup: true },
    { parent: first, entries: true },
    { moved: { cancelled: false }, isSame: false },
  ]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 2 });
  expect(sessionFiles()).toHaveLength(2);
});

verifies('X45', 'newSession during a run stops the run', async ({ open }) => {
  const { home } = homeWithCommands({ fresh: 'tell(ctx, await ctx.newSession());' });
  const { peer } = await open({ home, script: [{ steps: [{ text: 'one' }, { stall: true }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  await peer.ok({ type: 'prompt', message: '/fresh' });

  expect(await nextNotification(peer)).toEqual({ cancelled: false });
  expect(await peer.find('agent_settled')).toMatchObject({ outcome: 'aborted' });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 0, isIdle: true });
});

verifies('X45', 'switchSession and fork switch sessions, and report a missing target', async ({ open }) => {
  const { home } = homeWithCommands({
    switch:
      'tell(ctx, await ctx.switchSession(args, { withSession: async (next) => tell(next, next.sessionManager.getBranch().length > 2) }));',
    fork: 'tell(ctx, await ctx.fork(args, { withSession: async (next) => tell(next, next.sessionManager.getEntries().filter(({ type }) => type === "message").length) }));',
    copy: 'tell(ctx, await ctx.fork(args, { position: "at", withSession: async (next) => tell(next, next.sessionManager.getEntries().filter(({ type }) => type === "message").length) }));',
  });
  const { peer, sessionFiles } = await open({ home, script: [{ text: 'one' }, { text: 'two' }] });
  await peer.run('first');
  await peer.run('second');
  const [path] = sessionFiles();
  const { messages } = await peer.ok({ type: 'get_fork_messages' });
  await peer.ok({ type: 'new_session' });
  const runCommand = async (message: string) => {
    await peer.ok({ type: 'prompt', message });
    return [await nextNotification(peer), await nextNotification(peer)];
  };

  expect(await runCommand(`/switch ${path}`)).toEqual([true, { cancelled: false }]);
  expect(await runCommand(`/fork ${messages[1].entryId}`)).toEqual([2, { cancelled: false }]);
  await runCommand(`/switch ${path}`);
  expect(await runCommand(`/copy ${messages[1].entryId}`)).toEqual([3, { cancelled: false }]);
  for (const invalid of ['/fork nothing', '/copy nothing', '/switch /not/there.jsonl']) {
    await peer.ok({ type: 'prompt', message: invalid });
    await peer.next('extension_error');
  }
  expect(errors(peer.records)).toMatchObject([
    { extensionPath: 'command:fork', error: 'Invalid entry ID for forking' },
    { extensionPath: 'command:copy', error: 'Entry not found: nothing' },
    { extensionPath: 'command:switch', error: expect.stringContaining('/not/there.jsonl') },
  ]);
});

verifies('X45', 'a session change cancelled by an extension does not call withSession', async ({ open }) => {
  const { home } = homeWithCommands({
    fresh: 'tell(ctx, await ctx.newSession({ withSession: async () => tell(ctx, "moved") }));',
  });
  userExtension(home, 'no.ts', "export default (pi) => pi.on('session_before_switch', () => ({ cancel: true }));");
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/fresh' });

  expect(await nextNotification(peer)).toEqual({ cancelled: true });
  await peer.ok({ type: 'get_state' });
  expect(allNotifications(peer)).toHaveLength(1);
});

verifies('X45', 'navigateTree moves to another entry', async ({ open }) => {
  const { home } = homeWithCommands({
    back: 'tell(ctx, [await ctx.navigateTree(args, { label: "here" }), ctx.sessionManager.getLabel(args)]);',
  });
  const { peer } = await open({ home, script: [{ text: 'one' }, { text: 'two' }] });
  await peer.run('first');
  const { leafId } = await peer.ok({ type: 'get_entries' });
  await peer.run('second');

  await peer.ok({ type: 'prompt', message: `/back ${leafId}` });

  expect(await nextNotification(peer)).toMatchObject([{ cancelled: false }, 'here']);
  expect((await peer.ok({ type: 'get_messages' })).messages).toHaveLength(2);
});

verifies('X45', 'waitForIdle waits for the end of the run, after its prompt was answered', async ({ open }) => {
  const { home } = homeWithCommands({ wait: 'await ctx.waitForIdle(); tell(ctx, ctx.isIdle());' });
  const gate = newGate();
  const { peer } = await open({ home, script: [{ steps: [{ text: 'one' }, { await: gate.path }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  expect(await peer.ok({ type: 'prompt', message: '/wait' })).toEqual({ disposition: 'handled' });
  expect(allUiRequests(peer, 'notify')).toEqual([]);
  gate.open();

  expect(await nextNotification(peer)).toBe(true);
});

verifies('X45', 'ctx.abort stops the run, and ctx.compact calls its callbacks', async ({ open }) => {
  const { home } = homeWithCommands({
    stop: 'ctx.abort();',
    shrink:
      'ctx.compact({ customInstructions: args, onComplete: () => tell(ctx, "done"), onError: (error) => tell(ctx, error.message) });',
  });
  const { peer } = await open({ home, script: [{ steps: [{ text: 'one' }, { stall: true }] }] });
  await peer.ok({ type: 'prompt', message: '/shrink' });
  expect(await nextNotification(peer)).toMatch(/[Nn]othing to compact/);
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  await peer.ok({ type: 'prompt', message: '/stop' });

  expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'aborted' });
});

verifies('X45', 'reload loads changed files and drops removed commands', async ({ open }) => {
  const home = newHome();
  const write = (word: string, more = '') =>
    userExtension(
      home,
      'changing.ts',
      `import { word } from './word.ts';
      export default (pi) => {
        pi.on('session_shutdown', ({ reason }, ctx) => ctx.ui.notify(JSON.stringify(['shutdown', reason, word])));
        pi.on('session_start', ({ reason }, ctx) => ctx.ui.notify(JSON.stringify(['start', reason, word])));
        pi.registerCommand('again', { handler: async (_args, ctx) => { await ctx.reload(); } });
        ${more}
      }
      // ${word}`,
    );
  const helper = (word: string) =>
    userExtension(home, 'word.ts', `export const word = '${word}'; export default () => {};`);
  helper('old');
  write('old', "pi.registerCommand('old', { handler: async () => {} });");
  const { peer } = await open({ home });
  await peer.ok({ type: 'get_commands' });

  helper('new');
  write('new');
  await peer.ok({ type: 'prompt', message: '/again' });
  await nextNotification(peer);
  await nextNotification(peer);
  expect(await nextNotification(peer)).toEqual(['start', 'reload', 'new']);

  expect(allNotifications(peer)).toEqual([
    ['start', 'startup', 'old'],
    ['shutdown', 'reload', 'old'],
    ['start', 'reload', 'new'],
  ]);
  const { commands } = await peer.ok({ type: 'get_commands' });
  expect(commands.map(({ name }: { name: string }) => name)).toEqual(['again']);
  expect(errors(peer.records)).toEqual([]);
});

verifies('X47', 'a file that fails to reload is reported and loses its commands', async ({ open }) => {
  const { home, path } = homeWithCommands({ hello: '', again: 'await ctx.reload();' });
  const { peer } = await open({ home });
  await peer.ok({ type: 'get_commands' });
  userExtension(home, 'commands.ts', 'export default 7;');

  await peer.ok({ type: 'prompt', message: '/again' });

  expect(await peer.next('extension_error')).toMatchObject({ extensionPath: path, event: 'load' });
  expect(await peer.ok({ type: 'get_commands' })).toEqual({ commands: [] });
});

for (const transport of ['stdio', 'unix'] as const) {
  const exitOf = async ({ process }: TestAgent) => (await process?.exited)?.code;

  it(`[Z31] shutdown from a command ends the process, over ${transport}`, async () => {
    const { home } = homeWithCommands({ bye: 'ctx.shutdown();' });
    userExtension(
      home,
      'last.ts',
      "export default (pi) => pi.on('session_shutdown', ({ reason }, ctx) => ctx.ui.notify(JSON.stringify(reason)));",
    );
    const agent = await openTestAgent(transport, { home });

    expect(await agent.peer.ok({ type: 'prompt', message: '/bye' })).toEqual({ disposition: 'handled' });

    expect(await exitOf(agent)).toBe(0);
    await agent.peer.closed();
    expect(allNotifications(agent.peer)).toEqual(['quit']);
  });

  it(`[Z31] shutdown during a run waits for its end, over ${transport}`, async () => {
    const { home } = homeWithCommands({ bye: 'ctx.shutdown();' });
    const gate = newGate();
    const script = [{ steps: [{ text: 'one ' }, { await: gate.path }, { text: 'two' }] }];
    const agent = await openTestAgent(transport, { home, script });
    await agent.peer.ok({ type: 'prompt', message: 'go' });
    await agent.peer.next('message_update');

    await agent.peer.ok({ type: 'prompt', message: '/bye' });
    gate.open();

    expect(await exitOf(agent)).toBe(0);
    expect(await agent.peer.find('agent_settled')).toMatchObject({ outcome: 'ok' });
  });
}

verifies('X43', 'a command that throws after its prompt was answered is still reported', async ({ open }) => {
  const { home } = homeWithCommands({ late: "await ctx.ui.input('?'); throw new Error('too bad');" });
  const { peer } = await open({ home });
  await peer.ok({ type: 'prompt', message: '/late' });

  await answerDialog(peer, 'input', { value: 'x' });

  expect(await peer.next('extension_error')).toMatchObject({ extensionPath: 'command:late', error: 'too bad' });
});

verifies(
  'P15',
  'a slow command is answered before it ends',
  async ({ open }) => {
    const gate = newGate();
    const { home } = homeWithCommands({
      long: `${waitForFileCode('args')}
        tell(ctx, 'at last');`,
    });
    const { peer } = await open({ home });

    const response = await peer.ok({ type: 'prompt', message: `/long ${gate.path}` });
    gate.open();

    expect(response).toEqual({ disposition: 'handled' });
    expect(await nextNotification(peer)).toBe('at last');
  },
  ['stdio'],
);
