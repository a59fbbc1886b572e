import { expect } from 'vitest';
import {
  allNotifications,
  bash,
  callTool,
  homeWithCommands,
  nextNotification,
  projectExtension,
  userExtension,
} from '../../support/agent/extensions.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

/** A home with one extension that registers a tool; `fields` go into its definition. */
function toolHome(name: string, fields: string, { before = '', after = '' } = {}) {
  const home = newHome();
  userExtension(
    home,
    'tool.ts',
    `import { Type } from '@sinclair/typebox';
    export default (pi) => {
      const text = (words) => ({ content: [{ type: 'text', text: words }] });
      const tell = (ctx, value) => ctx.ui.notify(JSON.stringify(value));
      ${before}
      pi.registerTool({ name: '${name}', label: 'A tool', description: 'Does something', parameters: Type.Object({}), ${fields} });
      ${after}
    };`,
  );
  return home;
}

async function toolResults(peer: Peer) {
  const { messages } = await peer.ok({ type: 'get_messages' });
  return messages.filter(({ role }: { role: string }) => role === 'toolResult');
}

const activeTools = async (peer: Peer): Promise<string[]> => (await peer.ok({ type: 'get_state' })).activeTools;

verifies('X45', 'a tool is offered, described, called and reports progress', async ({ open }) => {
  const home = toolHome(
    'weather',
    `parameters: Type.Object({ city: Type.String({ description: 'Where' }) }),
     promptSnippet: 'weather: look out of the window', promptGuidelines: ['Never guess the weather.'],
     execute: async (id, { city }, signal, onUpdate, ctx) => {
       onUpdate({ content: [{ type: 'text', text: 'looking' }], details: { step: 1 } });
       return { ...text('sunny in ' + city), details: { id, aborted: signal.aborted, cwd: ctx.cwd } };
     }`,
    { after: "pi.registerCommand('prompt', { handler: async (_args, ctx) => tell(ctx, ctx.getSystemPrompt()) });" },
  );
  const { peer } = await open({ home, script: [callTool('weather', { city: 'Rome' }), { text: 'done' }] });

  const records = await peer.run('go');
  await peer.ok({ type: 'prompt', message: '/prompt' });
  const prompt = await nextNotification(peer);

  const { tools } = await peer.ok({ type: 'get_tools' });
  expect(tools).toContainEqual({
    name: 'weather',
    description: 'Does something',
    parameters: expect.objectContaining({ type: 'object', required: ['city'] }),
    active: true,
    source: 'extension',
  });
  const [{ toolCallId }] = await toolResults(peer);
  expect(await toolResults(peer)).toMatchObject([
    {
      toolName: 'weather',
      content: [{ text: 'sunny in Rome' }],
      details: { id: toolCallId, aborted: false, cwd: home.cwd },
      isError: false,
    },
  ]);
  expect(records.filter(({ type }) => type === 'tool_execution_update')).toMatchObject([
    {
      toolName: 'weather',
      args: { city: 'Rome' },
      partialResult: { content: [{ text: 'looking' }], details: { step: 1 } },
    },
  ]);
  expect(prompt).toContain('weather: look out of the window');
  expect(prompt).toContain('- Never guess the weather.');
});

verifies('X45', 'arguments are prepared by the tool, then validated against its schema', async ({ open }) => {
  const home = toolHome(
    'weather',
    `parameters: Type.Object({ city: Type.String() }),
     prepareArguments: (args) => ({ city: args.town ?? args.city }),
     execute: async (_id, { city }) => text(city)`,
  );
  const script = [callTool('weather', { town: 'Rome' }), callTool('weather', { city: 7 }), { text: 'done' }];
  const { peer } = await open({ home, script });

  await peer.run('go');

  expect(await toolResults(peer)).toMatchObject([
    { content: [{ text: 'Rome' }], isError: false },
    { content: [{ text: expect.stringContaining('Validation failed for tool "weather"') }], isError: true },
  ]);
});

verifies('X45', 'an error of a tool becomes an error result', async ({ open }) => {
  const home = toolHome('weather', "execute: async () => { throw new Error('it rains'); }", {
    after: `pi.registerTool({ name: 'other', description: 'x', parameters: Type.Object({}), prepareArguments: () => { throw new Error('unprepared'); }, execute: async () => text('never') });
      pi.registerTool({ name: 'says', description: 'x', parameters: Type.Object({}), execute: () => ({ ...text('I failed'), isError: true, details: { why: 1 } }) });`,
  });
  const { peer } = await open({
    home,
    script: [callTool('weather', {}), callTool('other', {}), callTool('says', {}), { text: 'done' }],
  });

  await peer.run('go');

  expect(await toolResults(peer)).toMatchObject([
    { isError: true, content: [{ text: 'it rains' }] },
    { isError: true, content: [{ text: 'unprepared' }] },
    { isError: true, content: [{ text: 'I failed' }], details: { why: 1 } },
  ]);
});

const textBlocks = (value: unknown) => [{ type: 'text', text: value }];

const returnValues: [string, { isError: boolean; content: unknown[] }][] = [
  ['undefined', { isError: false, content: [] }],
  ['null', { isError: false, content: [] }],
  ['7', { isError: false, content: [] }],
  ["'just words'", { isError: false, content: textBlocks('just words') }],
  ["{ content: 'words' }", { isError: true, content: textBlocks('content must be a list') }],
  [
    "{ content: [null, { type: 'video' }] }",
    { isError: true, content: textBlocks(expect.stringContaining('content[0]')) },
  ],
  [
    "{ content: [{ type: 'text', text: 7 }] }",
    { isError: true, content: textBlocks('content[0].text must be a string') },
  ],
  ['{ content: [], details: { big: 1n } }', { isError: true, content: textBlocks(expect.stringContaining('BigInt')) }],
  [
    '(() => { const loop = {}; loop.loop = loop; return { content: [], details: loop }; })()',
    { isError: true, content: textBlocks(expect.stringContaining('circular')) },
  ],
];
for (const [returnValue, result] of returnValues) {
  verifies('X45', `a tool that returns ${returnValue} does not fail the run`, async ({ open }) => {
    const home = toolHome('odd', `execute: async () => (${returnValue})`);
    const { peer } = await open({ home, script: [callTool('odd', {}), { text: 'done' }] });

    const records = await peer.run('go');

    expect(await toolResults(peer)).toMatchObject([result]);
    expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  });
}

verifies('X45', 'malformed progress fails only its call', async ({ open }) => {
  const home = toolHome(
    'odd',
    "execute: async (_id, _args, _signal, onUpdate) => { onUpdate({ content: 7 }); return text('x'); }",
  );
  const { peer } = await open({ home, script: [callTool('odd', {}), { text: 'done' }] });

  await peer.run('go');

  expect(await toolResults(peer)).toMatchObject([{ isError: true, content: textBlocks('content must be a list') }]);
});

verifies('X45', 'an extension tool overrides the built-in tool of its name until it is removed', async ({ open }) => {
  const home = toolHome(
    'bash',
    "parameters: Type.Object({ command: Type.String() }), execute: async (_id, { command }) => text('not run: ' + command)",
    {
      after:
        "pi.registerCommand('again', { handler: async (_args, ctx) => { await ctx.reload(); tell(ctx, 'reloaded'); } });",
    },
  );
  const { peer } = await open({ home, script: [bash('echo hi'), { text: 'one' }, bash('echo hi'), { text: 'two' }] });

  await peer.run('go');
  userExtension(home, 'tool.ts', 'export default () => {};');
  await peer.ok({ type: 'prompt', message: '/again' });
  await nextNotification(peer);
  await peer.run('again');

  expect((await toolResults(peer)).map(({ content }: { content: object[] }) => content)).toMatchObject([
    [{ text: 'not run: echo hi' }],
    [{ text: 'hi\n' }],
  ]);
  expect(await activeTools(peer)).toEqual(['read', 'bash', 'edit', 'write']);
});

verifies('X45', 'a tool with defaultActive false is inactive until a client activates it', async ({ open }) => {
  const home = toolHome('quiet', "defaultActive: false, execute: async () => text('here')");
  const { peer } = await open({
    home,
    script: [callTool('quiet', {}), { text: 'one' }, callTool('quiet', {}), { text: 'two' }],
  });

  await peer.run('go');
  const before = await activeTools(peer);
  await peer.ok({ type: 'set_active_tools', tools: ['quiet'] });
  await peer.run('again');

  expect(before).not.toContain('quiet');
  expect(await toolResults(peer)).toMatchObject([
    { isError: true, content: [{ text: 'Tool quiet not found' }] },
    { isError: false, content: [{ text: 'here' }] },
  ]);
});

verifies('X45', 'a tool registered during a run is available in the next turn', async ({ open }) => {
  const home = toolHome(
    'teacher',
    `execute: async () => {
      pi.registerTool({ name: 'pupil', description: 'New', parameters: Type.Object({}), execute: async () => text('learned') });
      return text('taught');
    }`,
  );
  const { peer } = await open({ home, script: [callTool('teacher', {}), callTool('pupil', {}), { text: 'done' }] });

  await peer.run('go');

  expect(await toolResults(peer)).toMatchObject([
    { content: [{ text: 'taught' }] },
    { content: [{ text: 'learned' }] },
  ]);
  expect(await activeTools(peer)).toEqual(['read', 'bash', 'edit', 'write', 'teacher', 'pupil']);
});

verifies('X45', 'the first tool of a name wins, and an extension may replace its own tool', async ({ open }) => {
  const home = toolHome('same', "execute: async () => text('old')", {
    after:
      "pi.registerTool({ name: 'same', description: 'x', parameters: Type.Object({}), execute: async () => text('new') });",
  });
  userExtension(
    home,
    'z-other.ts',
    "export default (pi) => pi.registerTool({ name: 'same', description: 'x', parameters: { type: 'object' }, execute: async () => 'other' });",
  );
  const { peer } = await open({ home, script: [callTool('same', {}), { text: 'done' }] });

  await peer.run('go');

  expect(await toolResults(peer)).toMatchObject([{ content: [{ text: 'new' }] }]);
});

verifies('X45', 'a tool can open a dialog and gets the abort signal', async ({ open }) => {
  const home = toolHome(
    'asks',
    `execute: async (_id, _args, signal, _onUpdate, ctx) => {
      const answer = await ctx.ui.input('Well?');
      return text(JSON.stringify([answer ?? null, signal.aborted]));
    }`,
  );
  const { peer } = await open({ home, script: [callTool('asks', {})] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('extension_ui_request');

  await peer.ok({ type: 'abort' });

  expect(await toolResults(peer)).toMatchObject([{ content: [{ text: '[null,true]' }] }]);
  expect(await peer.find('agent_settled')).toMatchObject({ outcome: 'aborted' });
});

verifies(
  'X45',
  'a tool that ignores an abort does not keep the run from ending',
  async ({ open }) => {
    const home = toolHome(
      'deaf',
      "execute: (_id, _args, _signal, onUpdate) => { onUpdate(text('begun')); return new Promise(() => {}); }",
    );
    const { peer } = await open({ home, script: [callTool('deaf', {}), { text: 'again' }] });
    await peer.ok({ type: 'prompt', message: 'go' });
    await peer.next('tool_execution_update');

    await peer.ok({ type: 'abort' });

    expect(await peer.find('agent_settled')).toMatchObject({ outcome: 'aborted' });
    expect(await toolResults(peer)).toMatchObject([
      { isError: true, content: [{ text: 'The tool did not stop after the abort' }] },
    ]);
    await peer.run('and now?');
  },
  ['stdio'],
);

verifies('X45', '--tools and --no-tools apply to extension tools', async ({ open }) => {
  const home = toolHome('one', "execute: async () => text('x')", {
    after:
      "pi.registerTool({ name: 'two', description: 'x', parameters: Type.Object({}), execute: async () => text('x') });",
  });

  const some = await open({ home, args: ['--tools', 'read,two'] });
  await some.peer.ok({ type: 'get_commands' });
  const none = await open({ home, args: ['--no-tools'] });
  await none.peer.ok({ type: 'get_commands' });

  expect(await activeTools(some.peer)).toEqual(['read', 'two']);
  expect(await activeTools(none.peer)).toEqual([]);
});

verifies(
  'X45',
  'active tools survive a session change and a reload',
  async ({ open }) => {
    const { home } = homeWithCommands(
      { again: "await ctx.reload(); tell(ctx, 'reloaded');" },
      "for (const name of ['one', 'two']) pi.registerTool({ name, description: 'x', parameters: { type: 'object' }, execute: async () => name });",
    );
    const { peer } = await open({ home });
    await peer.ok({ type: 'get_commands' });
    await peer.ok({ type: 'set_active_tools', tools: ['read', 'two'] });

    await peer.ok({ type: 'new_session' });
    const after = await activeTools(peer);
    await peer.ok({ type: 'prompt', message: '/again' });
    await nextNotification(peer);

    expect(after).toEqual(['read', 'two']);
    expect(await activeTools(peer)).toEqual(['read', 'two']);
  },
  AGENT_SWITCHES_SESSION,
);

verifies(
  'X45 Z24',
  'tools and handlers of an extension are removed with it, even with the last extension',
  async ({ open }) => {
    const home = newHome();
    projectExtension(
      home,
      'mine.ts',
      `export default (pi) => {
      pi.registerTool({ name: 'mine', description: 'x', parameters: { type: 'object' }, execute: async () => 'x' });
      pi.on('turn_start', (_event, ctx) => ctx.ui.notify('"turn"'));
    };`,
    );
    const { peer } = await open({ home });
    await peer.ok({ type: 'set_trust', trusted: true, remember: false });
    const trusted = await activeTools(peer);
    await peer.run('say one');

    await peer.ok({ type: 'set_trust', trusted: false, remember: false });
    await peer.run('say two');

    expect(trusted).toContain('mine');
    expect(await activeTools(peer)).toEqual(['read', 'bash', 'edit', 'write']);
    expect(allNotifications(peer)).toEqual(['turn']);
  },
);
