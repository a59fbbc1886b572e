import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandRows, type Scope } from '../../../src/protocol/generated/command-rows.ts';
import { accessAuditPath, auditPath } from '../../../src/server/auth/audit.ts';
import { userExtension } from '../../support/agent/extensions.ts';
import { newGate, newHome, writeSettings } from '../../support/agent/test-agent.ts';
import { commandNames, sampleParams } from '../../support/protocol/sample-params.ts';
import {
  newToken,
  readAll,
  startTarget,
  TARGET_TOKEN,
  type Target,
  type TargetClient,
} from '../../support/server/attack-target.ts';
import { startServer } from '../../support/server/test-server.ts';
import { hostTool, setHostTools, toolCallStep } from '../../support/tools/host-tools.ts';

const scopeOf = (name: (typeof commandNames)[number]) => commandRows[name].scope;

/** A session of the owner with a guest whose token has these scopes. */
async function withGuest(target: Target, scope: string) {
  const host = await target.connect();
  const { sessionId } = await host.location();
  const { token } = await newToken(target.home, { scope });
  const guest = await target.connect({ token, session: sessionId });
  await guest.location();
  return { host, guest, sessionId, token };
}

it.each(['view', 'prompt', 'bash', 'admin'] as const satisfies readonly Scope[])(
  '[A10 E14] a token with only %s is denied every command of another scope',
  async (scope) => {
    const target = await startTarget();
    const { guest } = await withGuest(target, scope);
    const others = commandNames.filter((name) => scopeOf(name) !== scope);

    for (const type of others) {
      const response = await guest.refused({ ...sampleParams(type), type });

      expect([type, response['code'], String(response['error']).startsWith('Permission denied')]).toEqual([
        type,
        'permission_denied',
        true,
      ]);
    }
    expect(others.length).toBeGreaterThan(20);
  },
);

it('[I24] hello lists only the commands that the scopes of a token permit', async () => {
  const target = await startTarget();
  const { guest } = await withGuest(target, 'view');

  const { supported } = (await guest.ok({ type: 'hello' })) as { supported: { commands: string[] } };

  expect(supported.commands).toEqual(commandNames.filter((name) => scopeOf(name) === 'view'));
});

it('[A10] a token with only view may send every view command', async () => {
  const target = await startTarget();
  const { guest } = await withGuest(target, 'view');

  for (const type of commandNames.filter((name) => scopeOf(name) === 'view')) {
    const response = await guest.request({ ...sampleParams(type), type });

    expect([type, response['code']]).not.toEqual([type, 'permission_denied']);
  }
});

it('[A18] a token without view gets the responses to its commands, and no message or event of the session', async () => {
  const gate = newGate();
  const tokens = { 'token-of-a-bot': { name: 'Bot', scopes: ['prompt', 'bash'], allowedPaths: ['/'] } };
  const script = [
    { steps: [toolCallStep('of_the_bot')], when: '^call' },
    { text: 'The first secret.', when: '^first' },
    { steps: [{ text: 'The second secret. ' }, { await: gate.path }, { text: 'Done.' }], when: '^second' },
  ];
  const server = await startServer({ tokens, script });
  const owner = await server.attach();
  await owner.run('first secret');
  await owner.ok({ type: 'set_session_name', name: 'A secret name' });
  await owner.ok({ type: 'prompt', message: 'second secret' });
  await owner.next('message_update');
  await owner.ok({ type: 'follow_up', message: 'first of the queued secrets' });
  const { session, epoch } = owner.cursor;
  const asBot = { token: 'token-of-a-bot', session, entries: 1 };
  const bots = [
    await server.attach(asBot),
    await server.attach({ ...asBot, epoch, after: 0 }),
    await server.attach({ ...asBot, tail: 5 }),
  ];

  gate.open();
  await owner.next('agent_settled');
  for (const bot of bots) {
    expect(await bot.refused({ type: 'get_messages' })).toMatchObject({ code: 'permission_denied' });
    expect(await bot.ok({ type: 'bash', command: 'echo mine' })).toMatchObject({ output: 'mine\n' });
    const others = bot.eventTypes.filter((type) => type !== 'bash_execution_update' && type !== 'state_synced');
    expect(others).toEqual(['server_connected']);
    expect(JSON.stringify(bot.records)).not.toMatch(/secret/i);
  }
  const host = bots[0] as (typeof bots)[number];
  await setHostTools(host, hostTool('of_the_bot'));
  await owner.ok({ type: 'prompt', message: 'call the tool of the bot' });
  expect(await host.next('host_tool_call')).toMatchObject({ toolName: 'of_the_bot' });
  expect(host.eventTypes).not.toContain('tool_execution_start');
  const synced = bots.map((bot) => bot.records.find(({ type }) => type === 'state_synced'));
  for (const record of synced) expect(record).toMatchObject({ messages: [], state: { isIdle: true, messageCount: 0 } });
});

/** An owner with a conversation and a queued message, and a client that may prompt but not view. */
async function withBlindBot() {
  const gate = newGate();
  const tokens = { 'token-of-a-bot': { name: 'Bot', scopes: ['prompt', 'bash', 'admin'] } };
  const script = [
    { text: 'The first secret.', when: '^first' },
    { steps: [{ await: gate.path }, { text: 'The second secret.' }], when: '^second' },
  ];
  const server = await startServer({ tokens, script });
  const owner = await server.attach();
  await owner.run('first secret');
  await owner.ok({ type: 'set_session_name', name: 'A secret name' });
  const { messages } = await owner.ok({ type: 'get_fork_messages' });
  await owner.ok({ type: 'prompt', message: 'second secret' });
  await owner.ok({ type: 'follow_up', message: 'first of the queued secrets' });
  const bot = await server.attach({ token: 'token-of-a-bot', session: owner.cursor.session });
  return { server, bot, entryId: messages[0].entryId as string };
}

it('[A26] without view, a token cannot send commands that return parts of the conversation', async () => {
  const { server, bot, entryId } = await withBlindBot();

  for (const command of [
    { type: 'export_html' },
    { type: 'export_html', outputPath: 'page.html' },
    { type: 'fork', entryId, detached: true },
    { type: 'branch', entryId, detached: true },
    { type: 'navigate_tree', targetId: entryId },
    { type: 'compact' },
    { type: 'clear_queue' },
  ])
    expect(await bot.refused(command)).toMatchObject({
      code: 'permission_denied',
      error: `Permission denied: ${command.type} needs the scopes prompt and view`,
    });

  expect(JSON.stringify(bot.records)).not.toMatch(/secret/i);
  expect(readdirSync(server.home.cwd)).toEqual([]);
});

it('[A27] a built-in slash command needs the scopes of the command that does the same', async () => {
  const { server, bot, entryId } = await withBlindBot();
  const builtins = true;

  for (const message of ['/fork', `/fork ${entryId}`, '/export', '/export page.html', '/name', '/session', '/compact'])
    for (const type of ['prompt', 'abort_and_prompt'])
      expect([message, await bot.refused({ type, message, builtins })]).toMatchObject([
        message,
        { command: type, code: 'permission_denied' },
      ]);
  const renamed = await bot.ok({ type: 'prompt', message: '/name Mine', builtins });

  expect(renamed).toMatchObject({ disposition: 'handled', output: 'The session is called Mine' });
  expect(JSON.stringify(bot.records)).not.toMatch(/secret/i);
  expect(readdirSync(server.home.cwd)).toEqual([]);
});

it('[A27] a message that was queued at the start cannot be edited into a built-in command without its scopes', async () => {
  const home = newHome();
  writeSettings(home, { startWaitMs: 1 });
  const code = `export default (pi) => pi.on('session_start', async (event, ctx) => { await ctx.ui.confirm('Start?', ''); });`;
  userExtension(home, 'ask.ts', code);
  const server = await startServer({ home, tokens: { 'token-of-a-bot': { name: 'Bot', scopes: ['prompt'] } } });
  const bot = await server.attach({ token: 'token-of-a-bot' });
  const { queueId } = await bot.ok({ type: 'prompt', message: 'Hi', builtins: true });

  const refused = await bot.refused({ type: 'edit_queued', queueId, message: '/export page.html' });
  await bot.ok({ type: 'edit_queued', queueId, message: 'Hello' });

  expect(refused).toMatchObject({ code: 'permission_denied' });
});

it('[A10] UI responses of a client without the prompt scope have no effect', async () => {
  const home = newHome();
  mkdirSync(join(home.agentDir, 'extensions'), { recursive: true });
  writeFileSync(
    join(home.agentDir, 'extensions', 'ask.ts'),
    `export default (pi) => pi.registerCommand('ask', {
      handler: async (_args, ctx) => {
        const yes = await ctx.ui.confirm('Delete everything?', 'Really?');
        await pi.sendMessage({ customType: 'verdict', content: String(yes), display: true });
      },
    });`,
  );
  const target = await startTarget({ home });
  const { host, guest } = await withGuest(target, 'view');
  host.send({ type: 'prompt', message: '/ask', id: 'asked' });
  const { id } = await host.next('extension_ui_request');

  guest.send({ type: 'extension_ui_response', id, confirmed: true });
  guest.send(`{"type":"extension_ui_response","id":${JSON.stringify(id)},"confirmed":tru`);
  await guest.ok({ type: 'ping' });
  host.send({ type: 'extension_ui_response', id, confirmed: false });
  const resolved = await guest.find('extension_ui_resolved');
  const verdict = await host.find(
    ({ type, message }) => type === 'message_end' && (message as { customType?: string }).customType === 'verdict',
  );

  expect(resolved).toMatchObject({ id, by: 'client' });
  expect(verdict).toMatchObject({ message: { content: 'false' } });
});

it('[W70 E14] a new session needs the prompt scope', async () => {
  const target = await startTarget();
  const { token } = await newToken(target.home, { scope: 'view' });
  const named = { token, new: '019a0000-0000-7000-8000-000000000001' };

  for (const query of [{ token }, named]) {
    const client = await target.connect(query);

    expect(await client.ended).toMatchObject({ code: 4403 });
    expect(client.records[0]).toMatchObject({ type: 'server_error', code: 'permission_denied' });
  }
  expect((await target.get('/metrics', { headers: { authorization: `Bearer ${TARGET_TOKEN}` } })).body).toMatch(
    /^tau_sessions\S* 0$/m,
  );
});

it('[D4] model URLs are sent only to administrators', async () => {
  const home = newHome();
  mkdirSync(home.agentDir, { recursive: true });
  const model = (id: string) => ({
    id,
    name: id,
    reasoning: false,
    input: ['text'],
    contextWindow: 1000,
    maxTokens: 100,
  });
  writeFileSync(
    join(home.agentDir, 'models.json'),
    JSON.stringify({
      providers: {
        hidden: {
          baseUrl: 'http://127.0.0.1:9/secret-place',
          api: 'openai-completions',
          apiKey: 'sk-hidden-key',
          headers: { 'x-secret-header': 'hidden-header-value' },
          models: [model('one'), model('two')],
        },
      },
    }),
  );
  const target = await startTarget({ home, agentArgs: ['--model', 'hidden/one'] });
  const { host, guest, sessionId } = await withGuest(target, 'view,prompt');
  const tail = await newToken(home, { scope: 'view' });

  const sendModelCommands = async (client: TargetClient) => {
    await client.ok({ type: 'get_state' });
    await client.ok({ type: 'set_model', provider: 'hidden', modelId: 'two' });
    await client.ok({ type: 'cycle_model' });
    await client.ok({ type: 'set_model', provider: 'hidden', modelId: 'one' });
    await client.ok({ type: 'get_available_models' });
    await client.request({ type: 'preflight' });
    await client.request({ type: 'list_providers' });
    await client.request({ type: 'hello', entries: true });
    await client.request({ type: 'prompt', message: '/session', builtins: true });
    await client.request({ type: 'prompt', message: '/model', builtins: true });
  };
  await sendModelCommands(guest);
  await sendModelCommands(host);
  await guest.ok({ type: 'ping' });
  const later = await target.connect({ token: tail.token, session: sessionId });
  await later.find('state_synced');

  for (const client of [guest, later]) {
    const received = client.texts.join('\n');
    for (const secret of ['secret-place', 'baseUrl', 'hidden-header-value', 'sk-hidden-key']) {
      expect(received).not.toContain(secret);
    }
  }
  expect(guest.texts.join('\n')).toContain('"state_changed"');
  expect(host.texts.join('\n')).toContain('secret-place');
  expect(host.texts.join('\n')).not.toContain('sk-hidden-key');
});

it('[A10 A22] the audit logs record the prompt, bash and admin commands of a token, and no content', async () => {
  const target = await startTarget();
  const { guest, token } = await withGuest(target, 'view,prompt,bash');

  await guest.ok({ type: 'bash', command: 'echo a-word-of-the-command' });
  await guest.run('say a-word-of-the-prompt');
  await guest.refused({ type: 'set_credential', provider: 'openai', apiKey: 'sk-in-a-command' });
  guest.socket.close();
  await guest.ended;
  await target.stop();

  const audit = readAll([auditPath(target.home.agentDir), accessAuditPath(target.home.agentDir)]);
  const events = audit
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const { grant } = events.find(({ message }) => message === 'bash');
  const ownEvents = events
    .filter((event) => event.grant === grant)
    .map(({ message, outcome }) => `${message} ${outcome}`);
  expect(ownEvents).toEqual(['bash ok', 'prompt ok', 'connect ok', 'set_credential permission_denied', 'close ok']);
  for (const text of ['a-word', 'sk-in-a-command', token, TARGET_TOKEN]) expect(audit).not.toContain(text);
});
