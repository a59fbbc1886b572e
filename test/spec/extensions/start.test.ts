import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createTestSession } from '../../support/agent/agent-session.ts';
import {
  allNotifications,
  answerDialog,
  homeWithCommands,
  nextNotification,
  nextUiRequest,
  projectExtension,
  userExtension,
  waitForFileCode,
} from '../../support/agent/extensions.ts';
import { userTexts } from '../../support/agent/run-records.ts';
import { newGate, newHome, openTestAgent, writeSettings } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

/** A home with an extension that loads only after the gate opens. */
function slowHome(body: string) {
  const home = newHome();
  const gate = newGate();
  writeSettings(home, { startWaitMs: 3_600_000 });
  userExtension(home, 'slow.ts', slowExtension(gate.path, body));
  return { home, gate };
}

const slowExtension = (gate: string, body: string) => `
  ${waitForFileCode(JSON.stringify(gate))}
  export default (pi) => { ${body} };`;

verifies('I4', 'get_commands and the first prompt wait for slow extensions, get_state does not', async (fixture) => {
  const { home, gate } = slowHome(
    `pi.registerCommand('slow', { handler: async () => {} });
       pi.on('input', ({ text }) => ({ action: 'transform', text: text + ' (seen)' }));`,
  );
  const { peer } = await fixture.open({ home, script: [{ text: 'one' }] });

  const commands = peer.ok({ type: 'get_commands' });
  const prompt = peer.ok({ type: 'prompt', message: 'hello' });
  const bash = peer.ok({ type: 'bash', command: 'true' });
  await peer.ok({ type: 'get_state' });
  const early = peer.records.map(({ type, command }) => command ?? type);
  gate.open();

  expect(early).toEqual([...fixture.greeting, 'get_state']);
  expect(await commands).toMatchObject({ commands: [{ name: 'slow' }] });
  expect(await prompt).toMatchObject({ disposition: 'started' });
  await bash;
  await peer.find('agent_settled');
  expect(userTexts(peer.records)).toEqual(['hello (seen)']);
});

verifies(
  'I4',
  'a command of a slow extension is run by prompt and rejected by steer as first message',
  async ({ open }) => {
    const { home, gate } = slowHome(
      "pi.registerCommand('slow', { handler: async (args, ctx) => ctx.ui.notify(JSON.stringify(args)) });",
    );
    const { peer } = await open({ home });

    const refused = peer.refused({ type: 'steer', message: '/slow down' });
    const handled = peer.ok({ type: 'prompt', message: '/slow and steady' });
    await peer.ok({ type: 'get_state' });
    gate.open();

    expect(await refused).toMatchObject({ code: 'invalid_params' });
    expect(await handled).toEqual({ disposition: 'handled' });
    expect(allNotifications(peer)).toEqual(['and steady']);
  },
);

verifies('I4 B10', 'a bash command that waits for slow extensions can be aborted', async ({ open }) => {
  const home = newHome();
  const gate = newGate();
  userExtension(home, 'slow.ts', slowExtension(gate.path, ''));
  const { peer } = await open({ home });

  const bash = peer.ok({ type: 'bash', command: 'echo done > done' });
  const stopped = peer.ok({ type: 'abort_bash' });
  await peer.ok({ type: 'get_state' });
  gate.open();
  await stopped;

  expect(await bash).toMatchObject({ cancelled: true });
  expect(readdirSync(home.cwd)).toEqual([]);
});

it('[I4] the end of input while extensions load loses no command', async () => {
  const home = newHome();
  const gate = newGate();
  userExtension(home, 'slow.ts', slowExtension(gate.path, "pi.on('input', () => ({ action: 'handled' }));"));
  const agent = await openTestAgent('stdio', { home });
  const prompt = agent.peer.ok({ type: 'prompt', message: 'hello' });
  await agent.peer.ok({ type: 'get_state' });
  agent.process?.endInput();
  gate.open();

  expect(await prompt).toEqual({ disposition: 'handled' });
  expect((await agent.process?.exited)?.code).toBe(0);
});

const FLAGS = `
  pi.registerFlag('plan', { type: 'boolean', description: 'Only plan' });
  pi.registerFlag('tone', { type: 'string', default: 'dry' });
  pi.registerFlag('loud', { type: 'boolean', default: true });
  pi.on('session_start', (_event, ctx) => tell(ctx, ['plan', 'tone', 'loud', 'unknown'].map((name) => pi.getFlag(name) ?? null)));`;

for (const [args, expected] of [
  [[], [null, 'dry', true, null]],
  [['--plan'], [true, 'dry', true, null]],
  [
    ['--plan=false', '--loud=false'],
    [false, 'dry', false, null],
  ],
  [
    ['--tone', 'warm'],
    [null, 'warm', true, null],
  ],
  [
    ['--tone=warm=er', '--plan', '--thinking', 'low'],
    [true, 'warm=er', true, null],
  ],
] as const) {
  verifies('Z26', `extension flags are read from the command line: ${args.join(' ') || 'none'}`, async ({ open }) => {
    const { home } = homeWithCommands({}, FLAGS);
    const { peer } = await open({ home, args });

    expect(await nextNotification(peer)).toEqual(expected);
  });
}

it('[Z26] a flag that no extension registers is reported once on stderr', async () => {
  const { home } = homeWithCommands({}, FLAGS);
  projectExtension(home, 'mine.ts', "export default (pi) => { pi.registerFlag('mine', { type: 'boolean' }); };");
  userExtension(home, 'trusts.ts', "export default (pi) => pi.on('project_trust', () => ({ trusted: 'yes' }));");
  const agent = await openTestAgent('stdio', { home, args: ['--mine', '--plan', '--what'] });
  await agent.peer.run('say hello');
  await agent.close();

  expect(agent.process?.stderr()).toBe('tau: Unknown option: --what\n');
});

it.each([[['--plan']], [['--no-extensions', '--plan']]])(
  '[Z25 Z26] without extensions %j is a usage error',
  async (args) => {
    const home = args.length === 1 ? newHome() : homeWithCommands({}, FLAGS).home;

    const { code, stdout, stderr } = await runTau(home, ['--mode', 'rpc', ...args], { input: '' });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('Unknown option: --plan');
  },
);

it('[Z26] extension flags work in print mode', async () => {
  const { home } = homeWithCommands(
    {},
    `pi.registerFlag('tone', { type: 'string' });
    pi.on('input', ({ text }) => ({ action: 'transform', text: 'say ' + pi.getFlag('tone') }));`,
  );

  const printed = await runTau(home, ['-p', '--tone', 'warm', 'say anything'], { input: '' });

  expect(printed).toMatchObject({ code: 0, stdout: 'warm\n' });
});

/** A home whose extension asks a question at `session_start` and marks every prompt that it sees. */
function askingHome(settings: object = { startWaitMs: 1 }) {
  const home = newHome();
  writeSettings(home, settings);
  userExtension(
    home,
    'ask.ts',
    `export default (pi) => {
      pi.on('session_start', async (event, ctx) => { await ctx.ui.confirm('Start?', ''); });
      pi.on('input', ({ text }) => ({ action: 'transform', text: text + ' (seen)' }));
      pi.registerCommand('greet', { handler: async (args, ctx) => ctx.ui.notify(JSON.stringify(args)) });
    };`,
  );
  return home;
}

verifies('P52', 'a prompt is queued while a dialog of session_start is open, and runs after it', async ({ open }) => {
  const { peer, sessionFiles } = await open({ home: askingHome(), script: [{ text: 'one' }] });

  const accepted = await peer.ok({ type: 'prompt', message: 'hello', clientMessageId: 'm1' });
  const { id } = await nextUiRequest(peer, 'confirm');
  const { pendingUi, isIdle, queuedMessages } = await peer.ok({ type: 'get_state' });
  const stored = readFileSync(sessionFiles()[0] ?? '', 'utf8');
  const idle = peer.ok({ type: 'wait_idle' });
  peer.send({ type: 'extension_ui_response', id, confirmed: true });

  expect(accepted).toEqual({ disposition: 'queued', queueId: expect.any(String) });
  expect(pendingUi).toHaveLength(1);
  expect(isIdle).toBe(true);
  expect(queuedMessages).toEqual([{ id: accepted.queueId, kind: 'followUp', text: 'hello' }]);
  expect(stored).toContain('"hello"');
  expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'ok', clientMessageIds: ['m1'] });
  await idle;
  expect(userTexts(peer.records)).toEqual(['hello (seen)']);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ queuedMessages: [] });
});

verifies('P52', 'steering and follow-ups at the start are queued too; a second prompt is refused', async ({ open }) => {
  const { peer } = await open({ home: askingHome(), script: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] });

  await peer.ok({ type: 'prompt', message: 'first' });
  expect(await peer.refused({ type: 'prompt', message: 'second' })).toMatchObject({ code: 'agent_busy' });
  expect(await peer.refused({ type: 'prompt', message: 'x', limits: { euros: 1 } })).toMatchObject({
    code: 'invalid_params',
  });
  expect(await peer.ok({ type: 'follow_up', message: 'later' })).toMatchObject({ disposition: 'queued' });
  expect(await peer.ok({ type: 'steer', message: 'sooner' })).toMatchObject({ disposition: 'queued' });
  await answerDialog(peer, 'confirm', { confirmed: true });
  await peer.next('agent_settled');

  expect(userTexts(peer.records)).toEqual(['first (seen)', 'sooner (seen)', 'later (seen)']);
});

verifies('P52', 'a repeated prompt at the start is a duplicate of the queued one', async ({ open }) => {
  const { peer } = await open({ home: askingHome(), script: [{ text: 'one' }] });

  const { queueId } = await peer.ok({ type: 'prompt', message: 'hello', clientMessageId: 'm1' });
  const again = await peer.ok({ type: 'prompt', message: 'hello', clientMessageId: 'm1' });
  await answerDialog(peer, 'confirm', { confirmed: true });
  await peer.next('agent_settled');
  await peer.ok({ type: 'wait_idle' });

  expect(again).toEqual({ disposition: 'queued', queueId, duplicate: true });
  expect(userTexts(peer.records)).toEqual(['hello (seen)']);
});

verifies('P53', 'a prompt that was queued at the start can be edited, withdrawn and cleared', async ({ open }) => {
  const { peer } = await open({ home: askingHome(), script: [{ text: 'one' }] });

  await peer.ok({ type: 'prompt', message: 'never' });
  await peer.ok({ type: 'follow_up', message: 'nor this' });
  const cleared = await peer.ok({ type: 'clear_queue' });
  const [first, second] = [
    await peer.ok({ type: 'prompt', message: 'helo' }),
    await peer.ok({ type: 'follow_up', message: 'more' }),
  ];
  await peer.ok({ type: 'edit_queued', queueId: first.queueId, message: 'hello' });
  expect(await peer.ok({ type: 'remove_queued', queueId: second.queueId })).toEqual({ text: 'more' });
  await answerDialog(peer, 'confirm', { confirmed: true });
  await peer.next('agent_settled');
  await peer.ok({ type: 'wait_idle' });

  expect(JSON.stringify(cleared)).toMatch(/never.*nor this|nor this.*never/);
  expect(userTexts(peer.records)).toEqual(['hello (seen)']);
});

verifies('P53', 'after an abort a prompt that was queued at the start waits for the next run', async ({ open }) => {
  const { peer } = await open({ home: askingHome(), script: [{ text: 'one' }, { text: 'two' }] });

  const { queueId } = await peer.ok({ type: 'prompt', message: 'hello' });
  await peer.ok({ type: 'abort' });
  await peer.ok({ type: 'wait_idle' });
  const { queuedMessages } = await peer.ok({ type: 'get_state' });
  await peer.run('go');

  expect(queuedMessages).toMatchObject([{ id: queueId }]);
  expect(userTexts(peer.records)).toEqual(['go (seen)', 'hello']);
});

verifies('P53', 'an extension command that was queued at the start runs as a command', async ({ open }) => {
  const { peer } = await open({ home: askingHome() });

  expect(await peer.ok({ type: 'prompt', message: '/greet you' })).toMatchObject({ disposition: 'queued' });
  await answerDialog(peer, 'confirm', { confirmed: true });

  expect(await nextNotification(peer)).toBe('you');
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ queuedMessages: [] });
});

verifies(
  'P54',
  'abort_and_prompt at the start is queued, and replaces the run of a prompt before it',
  async ({ open }) => {
    const { peer } = await open({
      home: askingHome(),
      script: [{ text: 'one' }, { text: 'two' }, { text: 'three' }],
    });

    await peer.ok({ type: 'prompt', message: 'first', clientMessageId: 'm1' });
    const accepted = await peer.ok({ type: 'abort_and_prompt', message: 'second', clientMessageId: 'm2' });
    const again = await peer.ok({ type: 'abort_and_prompt', message: 'second', clientMessageId: 'm2' });
    const refused = await peer.refused({ type: 'abort_and_prompt', message: 'x', limits: { euros: 1 } });
    await peer.ok({ type: 'follow_up', message: 'later' });
    await answerDialog(peer, 'confirm', { confirmed: true });
    const ends = [await peer.next('agent_settled'), await peer.next('agent_settled')];

    expect(accepted).toEqual({ disposition: 'queued', queueId: expect.any(String) });
    expect(again).toEqual({ ...accepted, duplicate: true });
    expect(refused).toMatchObject({ code: 'invalid_params' });
    expect(ends).toMatchObject([
      { outcome: 'aborted', clientMessageIds: ['m1'] },
      { outcome: 'ok', clientMessageIds: ['m2'] },
    ]);
    expect(userTexts(peer.records)).toEqual(['first (seen)', 'second (seen)', 'later (seen)']);
  },
);

verifies('P54', 'an extension command of abort_and_prompt at the start runs as a command', async ({ open }) => {
  const { peer } = await open({ home: askingHome() });

  expect(await peer.ok({ type: 'abort_and_prompt', message: '/greet you' })).toMatchObject({ disposition: 'queued' });
  await answerDialog(peer, 'confirm', { confirmed: true });

  expect(await nextNotification(peer)).toBe('you');
});

it('[P54] a prompt of an agent session at the start is stored and queued, and resolves after its run', async () => {
  const home = askingHome();
  const answers = [{ text: 'one' }, { text: 'two' }, { text: 'three' }];
  const { session } = await createTestSession({ answers }, home);
  let confirm = (_: boolean) => {};
  const confirmed = new Promise<boolean>((resolve) => {
    confirm = resolve;
  });
  const bound = session.bindExtensions({ uiContext: { confirm: () => confirmed } });

  let prompt = Promise.resolve();
  const disposition = await new Promise((resolve) => {
    prompt = session.prompt('hello', { preflightResult: resolve });
  });
  const plain = session.sendUserMessage('/greet you', { deliverAs: 'followUp' });
  const steered = await session.steer('more');
  const queued = [session.getSteeringMessages(), session.getFollowUpMessages()];
  const stored = readFileSync(session.sessionFile ?? '', 'utf8');
  confirm(true);
  await prompt;

  expect([disposition, steered]).toEqual(['queued', 'queued']);
  expect(queued).toEqual([['more'], ['hello', '/greet you']]);
  expect(stored).toContain('"hello"');
  expect(session.isIdle).toBe(true);
  const sent = session.messages.filter(({ role }) => role === 'user');
  expect(JSON.stringify(sent)).toMatch(/hello \(seen\).*more \(seen\).*\/greet you \(seen\)/);
  await Promise.all([bound, plain]);
});

it.each(['SIGKILL', 'SIGTERM'] as const)(
  '[P52] a prompt that was queued at the start is queued after %s',
  async (signal) => {
    const home = askingHome();
    const first = await openTestAgent('stdio', { home });
    const { queueId } = await first.peer.ok({ type: 'prompt', message: 'hello' });
    first.process?.kill(signal);
    await first.process?.exited;

    const [path = ''] = first.sessionFiles();
    const { peer } = await openTestAgent('stdio', { home, args: ['--session', path] });

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ queuedMessages: [{ id: queueId, text: 'hello' }] });
  },
);

verifies(
  'P52',
  'a prompt behind a session change waits for the new session',
  async ({ open }) => {
    const home = askingHome();
    const { peer } = await open({ home, script: [{ text: 'one' }] });

    const moved = peer.ok({ type: 'new_session' });
    const prompt = peer.ok({ type: 'prompt', message: 'hello' });
    await answerDialog(peer, 'confirm', { confirmed: true });
    await answerDialog(peer, 'confirm', { confirmed: true });
    await moved;

    expect(await prompt).toMatchObject({ disposition: 'started' });
  },
  AGENT_SWITCHES_SESSION,
);

verifies('X57', 'a handler can await a dialog while the agent starts, since input is read first', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'ask.ts',
    `export default (pi) => pi.on('session_start', async (event, ctx) => {
      ctx.ui.notify(JSON.stringify([event.reason, await ctx.ui.input('Name?')]));
    });`,
  );
  const { peer } = await open({ home });

  const { id } = await nextUiRequest(peer, 'input');
  await peer.ok({ type: 'ping' });
  expect((await peer.ok({ type: 'get_state' })).pendingUi).toMatchObject([{ id, method: 'input' }]);
  peer.send({ type: 'extension_ui_response', id, value: 'tau' });

  expect(await nextNotification(peer)).toEqual(['startup', 'tau']);
});
