import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  allNotifications,
  bash,
  homeWithCommands,
  nextNotification,
  userExtension,
  waitForFileCode,
} from '../../support/agent/extensions.ts';
import { userTexts } from '../../support/agent/run-records.ts';
import { newGate, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { writeFiles } from '../../support/agent/user-files.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { isAlive, waitUntil } from '../../support/processes/processes.ts';
import { verifies } from '../../support/verifies.ts';

/** Runs a command and returns its first notification. */
async function runCommand(peer: Peer, message: string) {
  await peer.ok({ type: 'prompt', message });
  return nextNotification(peer);
}

/** Role and text of each message, in order. */
async function transcript(peer: Peer): Promise<string[]> {
  const { messages } = await peer.ok({ type: 'get_messages' });
  return messages.map(({ role, content }: { role: string; content: string | { text?: string }[] }) => {
    const text = typeof content === 'string' ? content : content.map((block) => block.text ?? '').join('');
    return `${role}: ${text}`;
  });
}

const SEND_MESSAGE = `const [content, options] = JSON.parse(args);
  pi.sendMessage({ customType: 'note', content, display: true, details: { n: 1 } }, options);
  tell(ctx, 'sent');`;

verifies('X45', 'sendMessage while idle stores the message and calls no model', async ({ open }) => {
  const { home } = homeWithCommands({ say: SEND_MESSAGE });
  const { peer } = await open({ home, script: [{ text: 'one' }] });

  await peer.ok({ type: 'prompt', message: '/say ["a note"]' });
  const { message } = await peer.next('message_end');

  expect(message).toMatchObject({
    role: 'custom',
    customType: 'note',
    content: 'a note',
    display: true,
    details: { n: 1 },
  });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true });
  await peer.run('and now?');
  expect(await transcript(peer)).toEqual(['custom: a note', 'user: and now?', 'assistant: one']);
});

verifies('X45', 'sendMessage with triggerTurn opens a run while idle', async ({ open }) => {
  const { home } = homeWithCommands({ say: SEND_MESSAGE });
  const { peer } = await open({ home, script: [{ text: 'one' }] });

  await peer.ok({ type: 'prompt', message: '/say ["a note",{"triggerTurn":true}]' });
  await peer.next('agent_settled');

  expect(await transcript(peer)).toEqual(['custom: a note', 'assistant: one']);
});

verifies('X45', 'sendMessage during a run is delivered as `deliverAs` requests', async ({ open }) => {
  const { home } = homeWithCommands({ say: SEND_MESSAGE });
  const gate = newGate();
  const steps = [{ text: 'one' }, { await: gate.path }, { toolCall: { name: 'bash', arguments: { command: 'true' } } }];
  const { peer } = await open({ home, script: [{ steps }, { text: 'two' }, { text: 'three' }, { text: 'four' }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  const deliveries = [
    ['for the next prompt', { deliverAs: 'nextTurn' }],
    ['for the end', { deliverAs: 'followUp' }],
    ['for now', { deliverAs: 'steer' }],
    ['also for now', {}],
  ];
  for (const delivery of deliveries) await runCommand(peer, `/say ${JSON.stringify(delivery)}`);
  gate.open();
  await peer.next('agent_settled');
  await peer.run('more');

  expect(await transcript(peer)).toEqual([
    'user: go',
    'assistant: one',
    'toolResult: (no output)',
    'custom: for now',
    'custom: also for now',
    'assistant: two',
    'custom: for the end',
    'assistant: three',
    'user: more',
    'custom: for the next prompt',
    'assistant: four',
  ]);
});

const SEND_USER_MESSAGE = `const [content, options] = JSON.parse(args);
  pi.sendUserMessage(content, options);`;

verifies('X45', 'sendUserMessage prompts like a user; input handlers get the source `extension`', async ({ open }) => {
  const { home } = homeWithCommands(
    { ask: SEND_USER_MESSAGE },
    "pi.on('input', ({ source, text, streamingBehavior }, ctx) => tell(ctx, [source, text, streamingBehavior ?? null]));",
  );
  const { peer } = await open({ home, script: [{ text: 'one' }, { text: 'two' }] });

  await peer.ok({ type: 'prompt', message: '/ask ["what?"]' });
  await peer.next('agent_settled');
  await peer.run('and I?');

  expect(await transcript(peer)).toEqual(['user: what?', 'assistant: one', 'user: and I?', 'assistant: two']);
  expect(allNotifications(peer)).toEqual([
    ['extension', 'what?', null],
    ['rpc', 'and I?', null],
  ]);
});

verifies('X45', 'sendUserMessage expands templates only with `expandPromptTemplates`', async ({ open }) => {
  const { home } = homeWithCommands({ ask: SEND_USER_MESSAGE });
  writeFiles(home, { 'agent/prompts/greet.md': 'Greet $1 warmly' });
  const { peer } = await open({ home, script: [{ text: 'one' }, { text: 'two' }] });

  await peer.ok({ type: 'prompt', message: '/ask ["/greet Ada"]' });
  await peer.next('agent_settled');
  await peer.ok({ type: 'prompt', message: '/ask ["/greet Ada",{"expandPromptTemplates":true}]' });
  await peer.next('agent_settled');

  expect(userTexts(peer.records)).toEqual(['/greet Ada', 'Greet Ada warmly']);
});

verifies('X45', 'sendUserMessage during a run requires `deliverAs`', async ({ open }) => {
  const { home } = homeWithCommands({ ask: SEND_USER_MESSAGE });
  const gate = newGate();
  const { peer } = await open({
    home,
    script: [{ steps: [{ text: 'one' }, { await: gate.path }] }, { text: 'two' }, { text: 'three' }],
  });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  await peer.ok({ type: 'prompt', message: '/ask ["no way"]' });
  expect(await peer.next('extension_error')).toMatchObject({
    extensionPath: '<runtime>',
    event: 'send_user_message',
    error: expect.stringContaining('Agent is already running'),
  });
  await peer.ok({ type: 'prompt', message: '/ask ["later",{"deliverAs":"followUp"}]' });
  await peer.ok({ type: 'prompt', message: '/ask [[{"type":"text","text":"now"}],{"deliverAs":"steer"}]' });
  await peer.ok({ type: 'get_state' });
  gate.open();
  await peer.next('agent_settled');

  expect(userTexts(peer.records)).toEqual(['go', 'now', 'later']);
});

verifies('X45', 'appendEntry, setLabel and setSessionName store their entries', async ({ open }) => {
  const { home } = homeWithCommands({
    note: `pi.appendEntry('memo', { a: 1 });
      pi.appendEntry('bare');
      const [entry] = ctx.sessionManager.getEntries().filter(({ customType }) => customType === 'memo');
      pi.setLabel(entry.id, 'first');
      const labelled = ctx.sessionManager.getLabel(entry.id);
      pi.setLabel(entry.id, undefined);
      pi.setSessionName('  a\\nname ');
      tell(ctx, [labelled, ctx.sessionManager.getLabel(entry.id) ?? null, pi.getSessionName(), ctx.sessionManager.getTree().length]);`,
    bad: "pi.setLabel('nothing', 'x');",
  });
  const { peer, sessionFiles } = await open({ home });
  await peer.ok({ type: 'hello', entries: true });

  expect(await runCommand(peer, '/note')).toEqual(['first', null, 'a name', 1]);
  await peer.ok({ type: 'prompt', message: '/bad' });

  expect(await peer.find('session_info_changed')).toMatchObject({ name: 'a name' });
  expect(await peer.find('extension_error')).toMatchObject({ error: 'Entry not found: nothing' });
  const entries = readSessionFile(sessionFiles()[0] ?? '').filter(({ type }) =>
    ['custom', 'label', 'session_info'].includes(type),
  );
  expect(entries).toMatchObject([
    { type: 'custom', customType: 'memo', data: { a: 1 } },
    { type: 'custom', customType: 'bare' },
    { type: 'label', label: 'first' },
    { type: 'label' },
    { type: 'session_info', name: 'a name' },
  ]);
});

verifies('X45 I15', 'tools can be listed and activated', async ({ open }) => {
  const { home } = homeWithCommands({
    tools: `const all = pi.getAllTools();
      const before = pi.getActiveTools();
      pi.setActiveTools(['read', 'no such tool']);
      tell(ctx, [before, pi.getActiveTools(), all.find(({ name }) => name === 'bash')]);`,
  });
  const { peer } = await open({ home });

  const [before, after, tool] = await runCommand(peer, '/tools');

  expect(before).toEqual(['read', 'bash', 'edit', 'write']);
  expect(after).toEqual(['read']);
  expect(tool).toMatchObject({ name: 'bash', description: expect.any(String), parameters: { type: 'object' } });
  expect(await peer.find('state_changed')).toMatchObject({ state: { activeTools: ['read'] } });
});

verifies('X45', 'exec returns the output and exit code of a program', async ({ open }) => {
  const { home } = homeWithCommands({
    run: 'const [command, words, options] = JSON.parse(args); tell(ctx, await pi.exec(command, words, options));',
  });
  const { peer } = await open({ home });
  const run = (...args: unknown[]) => runCommand(peer, `/run ${JSON.stringify(args)}`);

  expect(await run('sh', ['-c', 'echo out; echo err >&2; exit 3'])).toEqual({
    stdout: 'out\n',
    stderr: 'err\n',
    code: 3,
    killed: false,
    truncated: false,
  });
  expect(await run('pwd', [])).toMatchObject({ stdout: `${home.cwd}\n`, code: 0 });
  expect(await run('pwd', [], { cwd: home.root })).toMatchObject({ stdout: `${home.root}\n` });
  expect(await run('no-such-program', [])).toMatchObject({
    code: 127,
    stderr: expect.stringContaining('no-such-program'),
  });
  expect(await run('cat', [])).toMatchObject({ stdout: '', code: 0 });
});

verifies('X45', 'exec kills a program and its children after the timeout', async ({ open }) => {
  const { home } = homeWithCommands({
    run: "tell(ctx, await pi.exec('sh', ['-c', 'sleep 1000 & echo $! > pid; echo begun; wait'], { timeout: Number(args) }));",
  });
  const { peer } = await open({ home });

  const result = await runCommand(peer, '/run 300');

  expect(result).toMatchObject({ stdout: 'begun\n', killed: true });
  const pid = Number(readFileSync(join(home.cwd, 'pid'), 'utf8'));
  await waitUntil(async () => !(await isAlive(pid)));
});

verifies('X45', 'exec kills a program on abort and when tau exits', async ({ open }) => {
  const { home } = homeWithCommands({
    run: `const stop = new AbortController();
      const done = pi.exec('sh', ['-c', 'sleep 1000 & echo $! > ' + args + '; mv ' + args + ' ' + args + '.pid; wait'], { signal: stop.signal });
      ${waitForFileCode("ctx.cwd + '/' + args + '.pid'")}
      tell(ctx, 'begun');
      if (args === 'aborted') stop.abort();
      tell(ctx, await done);`,
  });
  const { peer, close, process: agent } = await open({ home });
  const pidOf = (name: string) => Number(readFileSync(join(home.cwd, `${name}.pid`), 'utf8'));

  await peer.ok({ type: 'prompt', message: '/run aborted' });
  await nextNotification(peer);
  expect(await nextNotification(peer)).toMatchObject({ killed: true });
  await waitUntil(async () => !(await isAlive(pidOf('aborted'))));
  void peer.request({ type: 'prompt', message: '/run left' }).catch(() => {});
  await nextNotification(peer);
  // The end of input would wait for the command.
  if (agent) agent.kill('SIGTERM');
  else await close();

  await waitUntil(async () => !(await isAlive(pidOf('left'))));
});

verifies('X45', 'exec keeps at most 10 MiB of the output', async ({ open }) => {
  const { home } = homeWithCommands({
    run: "const { stdout, truncated, code } = await pi.exec('sh', ['-c', 'head -c 12000000 /dev/zero']); tell(ctx, [stdout.length, truncated, code]);",
  });
  const { peer } = await open({ home });

  expect(await runCommand(peer, '/run')).toEqual([10 * 1024 * 1024, true, 0]);
});

verifies('X45', 'models and thinking levels can be set, and each change fires its event', async ({ open }) => {
  const { home } = homeWithCommands(
    {
      choose: `const small = ctx.modelRegistry.find('tau', 'scripted-small');
        const chosen = await pi.setModel(small);
        const unknown = await pi.setModel({ provider: 'nobody', id: 'none' });
        const level = pi.getThinkingLevel();
        await pi.setModel(ctx.modelRegistry.find('tau', 'scripted'));
        pi.setThinkingLevel('high');
        tell(ctx, { chosen, unknown, level, now: ctx.model.id, thinking: ctx.thinkingLevel });`,
    },
    `pi.on('model_select', ({ model, previousModel, source }, ctx) => tell(ctx, ['model', model.id, previousModel?.id, source]));
     pi.on('thinking_level_select', ({ level, previousLevel }, ctx) => tell(ctx, ['level', level, previousLevel]));`,
  );
  const { peer } = await open({ home, args: ['--thinking', 'low'] });
  await peer.ok({ type: 'prompt', message: '/choose' });
  await peer.next((record) => record['method'] === 'notify' && String(record['message']).includes('chosen'));
  await peer.ok({ type: 'set_thinking_level', level: 'minimal' });

  expect(allNotifications(peer)).toEqual([
    ['model', 'scripted-small', 'scripted', 'set'],
    ['level', 'off', 'low'],
    ['model', 'scripted', 'scripted-small', 'set'],
    ['level', 'medium', 'off'],
    ['level', 'high', 'medium'],
    { chosen: true, unknown: false, level: 'off', now: 'scripted', thinking: 'high' },
    ['level', 'minimal', 'high'],
  ]);
});

verifies('X45', 'getCommands and getSettings return copies of the current values', async ({ open }) => {
  const { home } = homeWithCommands({
    look: 'const settings = pi.getSettings(); settings.steeringMode = "changed"; tell(ctx, [pi.getCommands().map(({ name, source }) => [name, source]), pi.getSettings().steeringMode]);',
  });
  writeFiles(home, { 'agent/prompts/greet.md': 'Greet', 'agent/settings.json': '{"steeringMode":"all"}' });
  const { peer } = await open({ home });

  expect(await runCommand(peer, '/look')).toEqual([
    [
      ['look', 'extension'],
      ['greet', 'prompt'],
    ],
    'all',
  ]);
});

verifies('X45', 'extensions exchange events over a bus', async ({ open }) => {
  const { home } = homeWithCommands({ ping: "pi.events.emit('ping', { n: 1 }); tell(ctx, 'emitted');" });
  userExtension(
    home,
    'z-other.ts',
    `export default (pi) => {
      let ui;
      pi.on('session_start', (_event, ctx) => { ui = ctx.ui; });
      const stop = pi.events.on('ping', (data) => { ui.notify(JSON.stringify(data)); stop(); });
      pi.events.on('ping', async () => { throw new Error('not for me'); });
    };`,
  );
  const { peer } = await open({ home });

  await peer.ok({ type: 'prompt', message: '/ping' });
  await peer.ok({ type: 'prompt', message: '/ping' });

  expect(allNotifications(peer)).toEqual([{ n: 1 }, 'emitted', 'emitted']);
  expect(await peer.find('extension_error')).toMatchObject({
    extensionPath: '<events>',
    event: 'ping',
    error: 'not for me',
  });
});

verifies('X45', 'handlers and commands can be added and removed at any time', async ({ open }) => {
  const { home } = homeWithCommands({
    listen: "globalThis.stopListening = pi.on('turn_start', (_event, next) => tell(next, 'turn'));",
    deafen: 'globalThis.stopListening();',
    more: "pi.registerCommand('extra', { handler: async (_args, next) => tell(next, 'extra') });",
  });
  const { peer } = await open({ home });

  for (const message of ['say one', '/listen', 'say two', '/deafen', 'say three', '/more', '/extra']) {
    if (message.startsWith('/')) await peer.ok({ type: 'prompt', message });
    else await peer.run(message);
  }

  expect(allNotifications(peer)).toEqual(['turn', 'extra']);
});

verifies('X45', 'sessionManager, modelRegistry and ctx return the current state', async ({ open }) => {
  const { home } = homeWithCommands({
    look: `const { sessionManager: s, modelRegistry: m } = ctx;
      const branch = s.getBranch();
      tell(ctx, {
        messages: s.buildSessionContext().messages.length,
        leaf: s.getLeafEntry().id === s.getLeafId() && branch.at(-1).id === s.getLeafId(),
        children: s.getChildren(branch.at(-2).id).length,
        persisted: s.isPersisted(), cwd: s.getCwd() === ctx.cwd,
        file: s.getSessionFile().startsWith(s.getSessionDir()),
        models: m.getAll().some(({ id }) => id === 'scripted'), error: m.getError() ?? null,
        usage: typeof ctx.getContextUsage().contextWindow, prompt: ctx.getSystemPrompt().includes(ctx.cwd),
        pending: ctx.hasPendingMessages(), trusted: ctx.isProjectTrusted(), signal: ctx.signal === undefined,
      });`,
  });
  const { peer } = await open({ home, script: [{ text: 'one' }] });
  await peer.run('hello');

  expect(await runCommand(peer, '/look')).toEqual({
    messages: 2,
    leaf: true,
    children: 1,
    persisted: true,
    cwd: true,
    file: true,
    models: true,
    error: null,
    usage: 'number',
    prompt: true,
    pending: false,
    trusted: false,
    signal: true,
  });
});

verifies('X45', 'calls that need a terminal are accepted and do nothing', async ({ open }) => {
  const home = newHome();
  const names = [
    'registerShortcut',
    'registerMessageRenderer',
    'registerEntryRenderer',
    'registerToolRenderer',
    'registerMarkdownTransformer',
  ];
  userExtension(
    home,
    'drawing.ts',
    `export default (pi) => { for (const name of ${JSON.stringify(names)}) pi[name]('ctrl+x', () => {}); }`,
  );
  const { peer } = await open({ home, script: [bash('true'), { text: 'fine' }] });

  const records = await peer.run('go');

  expect(records.filter(({ type }) => type === 'extension_error')).toEqual([]);
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'fine' });
});
