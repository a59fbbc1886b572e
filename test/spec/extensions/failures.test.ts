import { expect } from 'vitest';
import { bash, nextUiRequest, projectExtension, userExtension } from '../../support/agent/extensions.ts';
import { newHome, writeSettings } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const errors = (records: readonly WireRecord[]) => records.filter(({ type }) => type === 'extension_error');

verifies('X43 X47', 'each extension that fails to load is reported, and the others load', async ({ open }) => {
  const home = newHome();
  const failingExtensions = {
    'a-syntax.ts': 'export default function (pi) { this is no code }',
    'b-throws.ts': "throw new Error('at the top');",
    'c-no-function.ts': 'export default 7;',
    'd-missing.ts': "import './not-there.ts'; export default () => {};",
    'e-factory.ts': "export default () => { throw new Error('in the factory'); };",
    'f-too-early.ts': "export default (pi) => pi.setSessionName('early');",
    'g-bad-tool.ts': "export default (pi) => pi.registerTool({ name: 'has spaces' });",
  };
  const paths = Object.entries(failingExtensions).map(([name, code]) => userExtension(home, name, code));
  userExtension(home, 'z-good.ts', "export default (pi) => pi.registerCommand('good', { handler: async () => {} });");

  const { peer, process } = await open({ home });
  const { commands } = await peer.ok({ type: 'get_commands' });

  expect(commands).toMatchObject([{ name: 'good', source: 'extension' }]);
  const reported = errors(peer.records);
  expect(reported.map(({ extensionPath, event }) => [extensionPath, event])).toEqual(
    paths.map((path) => [path, 'load']),
  );
  expect(reported.map(({ error }) => error)).toMatchObject([
    expect.stringContaining('Missing semicolon'),
    'at the top',
    `Extension does not export a valid factory function: ${paths[2]}`,
    expect.stringContaining('not-there'),
    'in the factory',
    'Extension runtime not initialized. Action methods cannot be called during extension loading.',
    expect.stringContaining('has spaces'),
  ]);
  if (process) for (const path of paths) expect(process.stderr()).toContain(`Failed to load extension "${path}"`);
  await peer.run('say hello');
});

verifies('X43', 'a handler that throws is reported and has no effect', async ({ open }) => {
  const home = newHome();
  const events = [
    'agent_start',
    'turn_start',
    'message_start',
    'message_end',
    'context',
    'before_agent_start',
    'turn_end',
    'agent_end',
    'input',
    'tool_result',
    'tool_execution_start',
  ];
  const path = userExtension(
    home,
    'throws.ts',
    `export default (pi) => { for (const event of ${JSON.stringify(events)}) pi.on(event, () => { throw new Error('no ' + event); }); }`,
  );
  const { peer } = await open({ home, script: [bash('echo fine'), { text: 'done' }] });

  const records = await peer.run('go');

  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'done' });
  const reported = errors(peer.records);
  expect(new Set(reported.map(({ event }) => event))).toEqual(new Set(events));
  expect(reported.every(({ extensionPath, event, error }) => extensionPath === path && error === `no ${event}`)).toBe(
    true,
  );
});

verifies('X48', 'a tool_call handler that throws or times out blocks the tool', async ({ open }) => {
  const home = newHome();
  writeSettings(home, { extensionTimeoutMs: 50 });
  userExtension(
    home,
    'gate.ts',
    `export default (pi) => pi.on('tool_call', async ({ input }) => {
      if (input.command.includes('one')) throw new Error('I am not sure');
      if (input.command.includes('two')) await new Promise(() => {});
    });`,
  );
  const { peer } = await open({
    home,
    script: [bash('echo one'), bash('echo two'), bash('echo three'), { text: 'done' }],
  });

  await peer.run('go');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.filter(({ role }: { role: string }) => role === 'toolResult')).toMatchObject([
    { isError: true, content: [{ text: 'I am not sure' }] },
    { isError: true, content: [{ text: 'The handler did not finish within 0.05 seconds' }] },
    { isError: false, content: [{ text: 'three\n' }] },
  ]);
  expect(errors(peer.records)).toHaveLength(2);
});

verifies('X48', 'a handler that never returns times out, whatever its event', async ({ open, transport }) => {
  const home = newHome();
  writeSettings(home, { extensionTimeoutMs: 20 });
  userExtension(
    home,
    'silent.ts',
    `export default (pi) => {
      for (const event of ['session_start', 'input', 'before_agent_start', 'context', 'message_update', 'turn_end', 'session_before_switch', 'session_shutdown'])
        pi.on(event, () => new Promise(() => {}));
    }`,
  );
  const { peer, close } = await open({ home, script: [{ text: 'done' }] });

  const records = await peer.run('go');
  const moved = await peer.ok({ type: 'new_session' });

  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  expect(moved).toMatchObject({ cancelled: false });
  expect(new Set(errors(peer.records).map(({ event }) => event))).toEqual(
    new Set([
      'session_start',
      'input',
      'before_agent_start',
      'context',
      'message_update',
      'turn_end',
      'session_before_switch',
      // Behind a server the client disconnects before its agent shuts down.
      ...(transport === 'websocket' ? [] : ['session_shutdown']),
    ]),
  );
  await close();
});

verifies('X48', 'the time a handler waits for a user does not count', async ({ open }) => {
  const home = newHome();
  writeSettings(home, { extensionTimeoutMs: 300 });
  userExtension(
    home,
    'asks.ts',
    `export default (pi) => {
      pi.on('input', async (event, ctx) => {
        const text = await ctx.ui.input('What do you mean?');
        return { action: 'transform', text };
      });
      pi.on('user_bash', () => new Promise(() => {}));
    }`,
  );
  const { peer } = await open({ home, script: [{ text: 'done' }] });
  const prompt = peer.request({ type: 'prompt', message: 'go' });
  const { id } = await nextUiRequest(peer, 'input');
  // This handler started later and has timed out by now.
  await peer.ok({ type: 'bash', command: 'true' });
  peer.send({ type: 'extension_ui_response', id, value: 'this' });

  expect(await prompt).toMatchObject({ success: true });
  await peer.next('agent_settled');
  expect(errors(peer.records)).toMatchObject([{ event: 'user_bash' }]);
  const { messages } = await peer.ok({ type: 'get_messages' });
  const userMessages = messages.filter(({ role }: { role: string }) => role === 'user');
  expect(userMessages).toMatchObject([{ content: [{ type: 'text', text: 'this' }] }]);
});

verifies('X43', 'a command that throws is reported, and its prompt is still handled', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'command.ts',
    "export default (pi) => pi.registerCommand('broken', { handler: async () => { throw new Error('does not work'); } });",
  );
  const { peer } = await open({ home });

  const data = await peer.ok({ type: 'prompt', message: '/broken' });

  expect(data).toEqual({ disposition: 'handled' });
  expect(errors(peer.records)).toMatchObject([
    { extensionPath: 'command:broken', event: 'command', error: 'does not work' },
  ]);
});

verifies(
  'X49',
  'output of extensions goes to stderr',
  async ({ open }) => {
    const home = newHome();
    userExtension(
      home,
      'prints.ts',
      `import { execFileSync, spawnSync } from 'node:child_process';
    import { writeSync } from 'node:fs';
    console.log('from the top');
    process.stdout.write('raw top');
    export default (pi) => {
      console.log('from the factory');
      writeSync(1, 'descriptor');
      pi.on('turn_start', () => {
        console.info('from a handler');
        spawnSync('echo', ['from a child'], { stdio: 'inherit' });
        process.stdout.write('no line end');
      });
    }`,
    );
    const { peer, process: agent } = await open({ home });

    await peer.run('say hello');

    const outputs = [
      'from the top',
      'raw top',
      'from the factory',
      'descriptor',
      'from a handler',
      'from a child',
      'no line end',
    ];
    for (const output of outputs) {
      expect(agent?.stderr()).toContain(output);
      expect(agent?.stdout()).not.toContain(output);
    }
  },
  ['stdio'],
);

verifies('Z24', 'project extensions are loaded exactly while the project is trusted', async ({ open }) => {
  const home = newHome();
  projectExtension(home, 'mine.ts', "export default (pi) => pi.registerCommand('mine', { handler: async () => {} });");
  const { peer } = await open({ home });
  const names = async () =>
    (await peer.ok({ type: 'get_commands' })).commands.map(({ name }: { name: string }) => name);

  const before = await names();
  await peer.ok({ type: 'set_trust', trusted: true, remember: false });
  const trusted = await names();
  await peer.ok({ type: 'set_trust', trusted: false, remember: false });

  expect([before, trusted, await names()]).toEqual([[], ['mine'], []]);
});
