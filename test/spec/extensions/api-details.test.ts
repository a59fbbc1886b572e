import { expect } from 'vitest';
import {
  answerDialog,
  callTool,
  fixture,
  homeWithCommands,
  nextNotification,
  nextUiRequest,
  userExtension,
} from '../../support/agent/extensions.ts';
import { newHome, writeSettings } from '../../support/agent/test-agent.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { verifies } from '../../support/verifies.ts';

const tool = (name: string, returnValue: string) =>
  `pi.registerTool({ name: '${name}', description: 'Ends', parameters: { type: 'object', properties: {} }, execute: async () => (${returnValue}) });`;

verifies('X45', 'a run ends when all its tools return `terminate`, and continues otherwise', async ({ open }) => {
  const home = newHome();
  const content = "content: [{ type: 'text', text: 'ok' }]";
  userExtension(
    home,
    'ends.ts',
    `export default (pi) => { ${tool('last', `{ ${content}, terminate: true }`)} ${tool('other', `{ ${content} }`)} };`,
  );
  const both = { steps: ['last', 'other'].map((name) => ({ toolCall: { name, arguments: {} } })) };
  const { peer } = await open({
    home,
    script: [both, { text: 'went on' }, callTool('last', {}), { text: 'never said' }],
  });

  await peer.run('both');
  const afterBoth = await peer.ok({ type: 'get_last_assistant_text' });
  const records = await peer.run('one');

  expect(afterBoth).toEqual({ text: 'went on' });
  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  expect(JSON.stringify(await peer.ok({ type: 'get_messages' }))).not.toContain('never said');
  expect(JSON.stringify(records)).not.toContain('terminate');
});

verifies(
  'X45',
  'before_agent_start handlers read the prompt options and add sections',
  async ({ open }) => {
    const double = await ProviderDouble.start(completions);
    const home = newHome();
    userExtension(
      home,
      'sections.ts',
      `export default (pi) => {
        pi.on('before_agent_start', ({ systemPromptOptions: { selectedTools, sections } }) => {
          sections.advice = 'Mind ' + selectedTools.join(' and ');
          sections.nonsense = 7;
        });
        pi.registerCommand('options', { handler: async (_args, ctx) => ctx.ui.notify(JSON.stringify(ctx.getSystemPromptOptions().selectedTools)) });
      }`,
    );
    const { peer } = await open({
      home,
      args: ['-e', fixture('provider'), '--model', 'acme/acme-large', '--tools', 'read'],
      env: { ACME_URL: double.url, ACME_KEY: 'secret' },
    });
    double.respondWith({ text: 'yes' });

    await peer.ok({ type: 'prompt', message: '/options' });
    expect(await nextNotification(peer)).toEqual(['read']);
    await peer.run('go');

    const text = JSON.stringify(double.requests[0]?.body);
    expect(text).toContain('<advice>\\nMind read\\n</advice>');
    expect(text).not.toContain('nonsense');
  },
  ['stdio', 'unix'],
);

verifies('X45', 'newSession fills the session before it starts', async ({ open }) => {
  const { home } = homeWithCommands({
    start: `await ctx.newSession({
      setup: async (session) => {
        session.appendMessage({ role: 'user', content: 'from before' });
        session.appendCustomMessageEntry('note', 'a note', true);
        session.appendCustomEntry('state', { a: 1 });
        session.appendSessionInfo('prepared');
      },
      withSession: async (next) => tell(next, next.sessionManager.getEntries().map(({ type }) => type)),
    });`,
    wrong:
      "await ctx.newSession({ setup: async (session) => session.appendMessage({ role: 'butler', content: [] }) });",
  });
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/start' });
  expect(await nextNotification(peer)).toEqual(
    expect.arrayContaining(['message', 'custom_message', 'custom', 'session_info']),
  );
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages).toMatchObject([
    { role: 'user', content: [{ text: 'from before' }] },
    { role: 'custom', content: 'a note' },
  ]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionName: 'prepared' });

  await peer.ok({ type: 'prompt', message: '/wrong' });
  expect(await peer.next('extension_error')).toMatchObject({
    error: expect.stringContaining('role is none that there is'),
  });
});

verifies('X45', 'a message sent at agent_end without triggerTurn calls no model', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'note.ts',
    "export default (pi) => pi.on('agent_end', () => pi.sendMessage({ customType: 'note', content: 'noted', display: true }, { triggerTurn: false }));",
  );
  const { peer } = await open({ home, script: [{ text: 'answer' }, { text: 'never said' }] });

  const records = await peer.run('go');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'custom']);
  expect(records.at(-1)).toMatchObject({ type: 'agent_settled' });
  expect(records.at(-2)).toMatchObject({ type: 'message_end', message: { customType: 'note' } });
});

verifies('X45', 'session_info_changed fires when a client renames the session', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'name.ts',
    "export default (pi) => pi.on('session_info_changed', ({ name }, ctx) => ctx.ui.notify(JSON.stringify(name)));",
  );
  const { peer } = await open({ home });
  await peer.ok({ type: 'get_commands' });

  await peer.ok({ type: 'set_session_name', name: 'mine' });

  expect(await nextNotification(peer)).toBe('mine');
});

verifies('X45', 'any extension may cancel a navigation, and their results are merged', async ({ open }) => {
  const home = newHome();
  userExtension(home, 'a.ts', "export default (pi) => pi.on('session_before_tree', () => ({ label: 'marked' }));");
  userExtension(
    home,
    'b.ts',
    `export default (pi) => {
      let stops = true;
      pi.registerCommand('let', { handler: async () => { stops = false; } });
      pi.on('session_before_tree', () => (stops ? { cancel: true } : { summary: { summary: 'in short' } }));
    }`,
  );
  const { peer } = await open({ home, script: [{ text: 'one' }, { text: 'two' }] });
  await peer.run('first');
  await peer.run('second');
  const { messages } = await peer.ok({ type: 'get_fork_messages' });
  const navigation = { type: 'navigate_tree', targetId: messages[1].entryId, summarize: true };

  const stopped = await peer.ok(navigation);
  await peer.ok({ type: 'prompt', message: '/let' });
  const done = await peer.ok(navigation);

  expect(stopped).toMatchObject({ cancelled: true });
  expect(done).toMatchObject({ cancelled: false });
  const { entries } = await peer.ok({ type: 'get_entries' });
  expect(entries).toContainEqual(expect.objectContaining({ type: 'branch_summary', summary: 'in short' }));
  expect(entries).toContainEqual(expect.objectContaining({ type: 'label', label: 'marked' }));
});

verifies(
  'X45',
  'the bash tool of an extension gets the same filtered environment',
  async ({ open }) => {
    const home = newHome();
    writeSettings(home, {});
    userExtension(
      home,
      'bash.ts',
      `import { createBashTool } from '@mariozechner/pi-coding-agent';
      export default (pi) => {
        pi.registerProvider('acme', { baseUrl: 'http://127.0.0.1:9/v1', apiKey: '$MY_SECRET', api: 'openai-completions', models: [{ id: 'x' }] });
        pi.registerTool({ ...createBashTool(process.cwd()), name: 'mybash' });
      }`,
    );
    const { peer } = await open({
      home,
      env: { MY_SECRET: 'do-not-tell', PLAIN: 'plain' },
      script: [callTool('mybash', { command: 'echo "[$MY_SECRET] $PLAIN $AI_AGENT"' }), { text: 'done' }],
      args: ['--model', 'tau/scripted'],
    });

    await peer.run('go');

    expect(await peer.find('tool_execution_end')).toMatchObject({ result: { content: [{ text: '[] plain tau\n' }] } });
  },
  ['stdio', 'unix'],
);

verifies(
  'X45',
  'an extension calls a model with the keys of tau',
  async ({ open }) => {
    const double = await ProviderDouble.start(completions);
    const home = newHome();
    userExtension(
      home,
      'ask.ts',
      `export default (pi) => pi.registerCommand('ask', { handler: async (args, ctx) => {
      const model = ctx.modelRegistry.find('acme', 'acme-large');
      const { content } = await ctx.modelRegistry.complete(model, { messages: [{ role: 'user', content: [{ type: 'text', text: args }], timestamp: 1 }] });
      ctx.ui.notify(JSON.stringify(content));
    } });`,
    );
    const { peer } = await open({
      home,
      args: ['-e', fixture('provider')],
      env: { ACME_URL: double.url, ACME_KEY: 'a-secret-key' },
    });
    double.respondWith({ text: 'forty-two' });

    await peer.ok({ type: 'prompt', message: '/ask what?' });

    expect(await nextNotification(peer)).toMatchObject([{ type: 'text', text: 'forty-two' }]);
    expect(JSON.stringify(double.requests[0]?.headers)).toContain('a-secret-key');
  },
  ['stdio', 'unix'],
);

verifies('P15', 'sendUserMessage runs a command with `expandPromptTemplates`', async ({ open }) => {
  const { home } = homeWithCommands({
    outer: "pi.sendUserMessage('/inner and more', { expandPromptTemplates: true });",
    inner: "tell(ctx, [args, await ctx.ui.confirm('Sure?', '')]);",
  });
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/outer' });
  await answerDialog(peer, 'confirm', { confirmed: true });

  expect(JSON.parse((await nextUiRequest(peer, 'notify')).message)).toEqual(['and more', true]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 0 });
});

verifies('X101', 'a copy of the context has every member, in handlers, commands and tools', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'copies.ts',
    `const copied = (ctx) => {
      const copy = { ...ctx, mine: true };
      return [copy.cwd === ctx.cwd, copy.isIdle(), copy.model?.id, typeof copy.modelRegistry.find, copy.mine];
    };
    export default (pi) => {
      let seen;
      pi.on('input', (_event, ctx) => { seen = copied(ctx); return { action: 'continue' }; });
      pi.registerCommand('copy', { handler: async (_args, ctx) => {
        const { ui, waitForIdle, newSession } = { ...ctx };
        await waitForIdle();
        ui.notify(JSON.stringify({ seen, command: copied(ctx), newSession: typeof newSession }));
      } });
      pi.registerTool({ name: 'copy', description: 'Copies', parameters: { type: 'object', properties: {} }, execute: async (_id, _params, _signal, _onUpdate, ctx) => {
        const copy = { ...ctx };
        return { content: [{ type: 'text', text: [typeof copy.executeTool, Array.isArray(copy.tools), copy.cwd === ctx.cwd].join() }] };
      } });
    };`,
  );
  const { peer } = await open({ home, script: [callTool('copy', {}), { text: 'done' }] });

  const records = await peer.run('go');
  await peer.ok({ type: 'prompt', message: '/copy' });

  const members = [true, true, 'scripted', 'function', true];
  expect(await nextNotification(peer)).toEqual({ seen: members, command: members, newSession: 'function' });
  expect(JSON.stringify(records)).toContain('function,true,true');
});
