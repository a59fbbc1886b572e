import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { openAfterTwoTurns } from '../../support/agent/compaction.ts';
import { allUiRequests, homeWithCommands, userExtension } from '../../support/agent/extensions.ts';
import { userTexts } from '../../support/agent/run-records.ts';
import { newGate, newHome, openTestAgent as openOn, type TestAgent } from '../../support/agent/test-agent.ts';
import { writeFiles } from '../../support/agent/user-files.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

const NAMES = ['compact', 'model', 'name', 'new', 'fork', 'session', 'export', 'reload', 'help'];

/** Enables built-in commands for the client of this agent, and waits until its extensions have started. */
async function withBuiltins(agent: TestAgent | Promise<TestAgent>): Promise<TestAgent> {
  const { peer } = await agent;
  await peer.ok({ type: 'hello', builtins: true });
  await peer.ok({ type: 'get_commands' });
  return agent;
}

/** Runs a built-in command and returns its output. */
async function output(peer: Peer, message: string): Promise<string> {
  const data = await peer.ok({ type: 'prompt', message });
  expect(data).toEqual({ disposition: 'handled', output: expect.any(String) });
  return data.output;
}

verifies(
  'N13',
  'built-in commands are listed with their argument hints after hello with builtins',
  async ({ open }) => {
    const { peer } = await withBuiltins(open());

    const { commands } = await peer.ok({ type: 'get_commands' });

    expect(commands.map(({ name }: { name: string }) => name)).toEqual(NAMES);
    for (const command of commands) {
      expect(command).toMatchObject({ source: 'builtin', description: expect.any(String) });
      expect(command).not.toHaveProperty('path');
    }
    expect(commands[2]).toMatchObject({ name: 'name', argumentHint: '[name]' });
  },
);

verifies(
  'N11 N12',
  'without builtins no built-in command is listed, and their texts go to the model',
  async ({ open }) => {
    const { peer } = await open({ script: [{ text: 'read' }, { repeat: true }] });
    await peer.ok({ type: 'hello', builtins: false });
    const before = await peer.ok({ type: 'get_state' });
    const messages = [...NAMES.map((name) => `/${name}`), '/name x', '/quit', '/settings'];

    for (const message of messages) await peer.run(message);

    expect(await peer.ok({ type: 'get_commands' })).toEqual({ commands: [] });
    expect(userTexts(peer.records)).toEqual(messages);
    expect(await peer.ok({ type: 'get_state' })).toEqual({ ...before, messageCount: 2 * messages.length });
    const dispositions = peer.records.filter(({ command }) => command === 'prompt').map(({ data }) => data);
    expect(dispositions).toEqual(messages.map(() => expect.objectContaining({ disposition: 'started' })));
  },
);

verifies('N13', '/help lists every command', async ({ open }) => {
  const home = newHome();
  writeFiles(home, { 'agent/prompts/greet.md': '---\ndescription: Greets\nargument-hint: "<who>"\n---\nGreet $1' });
  const { peer } = await withBuiltins(open({ home }));

  const lines = (await output(peer, '/help')).split('\n');

  expect(lines).toContain('/name [name] - Show the name of the session, or give it another one');
  expect(lines).toContain('/greet <who> - Greets');
  expect(lines).toHaveLength(NAMES.length + 1);
});

verifies('N13', '/name shows and sets the session name', async ({ open }) => {
  const { peer } = await withBuiltins(open());

  expect(await output(peer, '/name')).toBe('The session has no name');
  expect(await output(peer, '/name  my   session ')).toBe('The session is called my   session');
  expect(await output(peer, '/name')).toBe('The session is called my   session');
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionName: 'my   session', messageCount: 0 });
});

verifies('N13', '/model lists and sets models, and rejects an unknown model', async ({ open }) => {
  const { peer } = await withBuiltins(open());

  expect((await output(peer, '/model')).split('\n')).toEqual(
    expect.arrayContaining(['* tau/scripted', '  tau/scripted-small']),
  );
  expect(await output(peer, '/model tau/scripted-slow:high')).toBe('Using tau/scripted-slow');
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ model: { id: 'scripted-slow' }, thinkingLevel: 'high' });
  expect(await peer.refused({ type: 'prompt', message: '/model no-such-model' })).toMatchObject({
    code: 'model_not_found',
  });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ model: { id: 'scripted-slow' } });
});

verifies('N13', '/new starts a session unless an extension cancels it', async ({ open }) => {
  const { home } = homeWithCommands(
    { lock: 'globalThis.isLocked = true;', unlock: 'globalThis.isLocked = false;' },
    "pi.on('session_before_switch', () => ({ cancel: globalThis.isLocked === true }));",
  );
  const { peer } = await withBuiltins(open({ home, script: [{ text: 'one' }] }));
  await peer.run('hello');

  await peer.ok({ type: 'prompt', message: '/lock' });
  expect(await output(peer, '/new')).toBe('An extension cancelled it');
  await peer.ok({ type: 'prompt', message: '/unlock' });
  const shownText = await output(peer, '/new');

  const { sessionId, messageCount } = await peer.ok({ type: 'get_state' });
  expect(shownText).toBe(`Started the session ${sessionId}`);
  expect(messageCount).toBe(0);
});

verifies('N13', '/fork lists messages, forks before one, and rejects an unknown entry', async ({ open }) => {
  const { peer } = await withBuiltins(open({ script: [{ text: 'one' }, { text: 'two' }] }));
  expect(await output(peer, '/fork')).toBe('There are no messages yet');
  await peer.run('first');
  await peer.run(`second\n${'long '.repeat(30)}`);
  const { messages } = await peer.ok({ type: 'get_fork_messages' });

  const lines = (await output(peer, '/fork')).split('\n');
  const rejection = await peer.refused({ type: 'prompt', message: '/fork nothing' });
  const shownText = await output(peer, `/fork ${messages[1].entryId}`);

  expect(lines).toEqual([`${messages[0].entryId}  first`, expect.stringMatching(/^\w+ {2}second (long ){10}\w*\s?$/)]);
  expect(rejection).toMatchObject({ code: 'not_found', error: 'Invalid entry ID for forking' });
  expect(shownText).toMatch(/^Forked before: second\n/);
  expect((await peer.ok({ type: 'get_messages' })).messages).toHaveLength(2);
});

verifies('N13', '/session shows id, file, message counts, tokens and context', async ({ open }) => {
  const { peer } = await withBuiltins(
    open({ script: [{ steps: [{ text: 'one' }, { usage: { input: 2000, output: 0 } }] }] }),
  );
  await peer.run('hello');
  await peer.ok({ type: 'set_session_name', name: 'mine' });
  const { sessionId, sessionFile } = await peer.ok({ type: 'get_state' });

  expect((await output(peer, '/session')).split('\n')).toEqual([
    `Session ${sessionId} (mine)`,
    `File: ${sessionFile}`,
    'Messages: 1 of the user, 1 answer, 0 tool calls',
    'Tokens: 2000 in all; cost: 0.0000',
    'Context: 1.0 % of 200000',
  ]);
});

verifies('N13', '/export writes a page, and fails for a session in memory', async ({ open }) => {
  const { peer, home } = await withBuiltins(open({ script: [{ text: 'one' }] }));
  await peer.run('hello');
  const inMemory = await withBuiltins(openOn('memory', { args: ['--no-session'] }));

  const named = await output(peer, '/export page.html');
  const unnamed = (await output(peer, '/export')).replace('Exported to: ', '');

  expect(named).toBe('Exported to: page.html');
  expect(existsSync(join(home.cwd, 'page.html'))).toBe(true);
  expect(existsSync(resolve(home.cwd, unnamed))).toBe(true);
  expect(await inMemory.peer.refused({ type: 'prompt', message: '/export' })).toMatchObject({ code: 'not_supported' });
});

verifies('N13', '/compact takes instructions, and fails when there is nothing to compact', async ({ open }) => {
  const empty = await withBuiltins(open());
  const { peer } = await withBuiltins(openAfterTwoTurns(open, [{ text: 'In short.' }]));

  expect((await empty.peer.refused({ type: 'prompt', message: '/compact' }))['error']).toMatch(/[Nn]othing to compact/);
  expect(await output(peer, '/compact only the facts')).toBe('Compacted a conversation of 210 tokens');
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[0]).toMatchObject({ role: 'compactionSummary', summary: expect.stringContaining('In short.') });
});

verifies('N13', '/reload finds extensions and templates added since the start', async ({ open }) => {
  const { peer, home } = await withBuiltins(open());
  expect(await output(peer, '/reload')).toBe('Loaded again: 0 commands');

  writeFiles(home, { 'agent/prompts/greet.md': 'Greet' });
  userExtension(
    home,
    'late.ts',
    "export default (pi) => pi.registerCommand('late', { handler: async (_args, ctx) => ctx.ui.notify('here') });",
  );

  expect(await output(peer, '/reload')).toBe('Loaded again: 2 commands');
  await peer.ok({ type: 'prompt', message: '/late' });
  expect(allUiRequests(peer, 'notify')).toHaveLength(1);
});

verifies('N13', 'built-in commands work during a run', async ({ open }) => {
  const gate = newGate();
  const { peer } = await withBuiltins(
    open({ script: [{ steps: [{ text: 'one' }, { await: gate.path }, { text: ' two' }] }] }),
  );
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  for (const message of ['/help', '/session', '/name busy', '/model', '/fork']) await output(peer, message);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true, sessionName: 'busy' });
  gate.open();
  expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'ok' });
});

verifies(
  'N13',
  '/new stops a run',
  async ({ open }) => {
    const { peer } = await withBuiltins(open({ script: [{ steps: [{ text: 'x' }, { stall: true }] }] }));
    await peer.ok({ type: 'prompt', message: 'go' });
    await peer.next('message_update');

    await output(peer, '/new');

    expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'aborted' });
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 0, isIdle: true });
  },
  AGENT_SWITCHES_SESSION,
);

verifies(
  'N13',
  'abort_and_prompt runs a built-in command; steer and follow_up send it to the model',
  async ({ open }) => {
    const { peer } = await withBuiltins(
      open({ script: [{ steps: [{ text: 'one' }, { stall: true }] }, { text: 'two' }, { text: 'three' }] }),
    );
    await peer.ok({ type: 'prompt', message: 'go' });
    await peer.next('message_update');

    const data = await peer.ok({ type: 'abort_and_prompt', message: '/name' });
    await peer.ok({ type: 'steer', message: '/help' });
    await peer.next('agent_settled');
    await peer.next('agent_settled');
    await peer.ok({ type: 'follow_up', message: '/new' });
    await peer.next('agent_settled');

    expect(data).toEqual({ disposition: 'handled', output: 'The session has no name' });
    expect(userTexts(peer.records)).toEqual(['go', '/help', '/new']);
  },
);

verifies('N14', 'a template or extension command overrides a built-in command of the same name', async ({ open }) => {
  const { home } = homeWithCommands({ help: "ctx.ui.notify('from the extension');" });
  writeFiles(home, { 'agent/prompts/name.md': 'Think of a name for $1' });
  const { peer } = await withBuiltins(open({ home, script: [{ text: 'Ada' }] }));

  const { commands } = await peer.ok({ type: 'get_commands' });
  const help = await peer.ok({ type: 'prompt', message: '/help' });
  await peer.run('/name a cat');

  expect(help).toEqual({ disposition: 'handled' });
  expect(allUiRequests(peer, 'notify')).toMatchObject([{ message: 'from the extension' }]);
  expect(userTexts(peer.records)).toEqual(['Think of a name for a']);
  const sources = (name: string) => commands.filter((command: { name: string }) => command.name === name);
  expect(sources('help')).toMatchObject([{ source: 'extension' }]);
  expect(sources('name')).toMatchObject([{ source: 'prompt' }]);
  expect(await peer.ok({ type: 'get_state' })).not.toHaveProperty('sessionName', 'a cat');
});

for (const message of ['/helpme', '/constructor', '/toString', '/ help', 'please /help']) {
  verifies('N13', `${JSON.stringify(message)} is not a built-in command`, async ({ open }) => {
    const { peer } = await withBuiltins(open({ script: [{ text: 'well' }] }));

    await peer.run(message);

    expect(userTexts(peer.records)).toEqual([message]);
  });
}
