import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allQuestions, answer, nextQuestion } from '../../support/agent/approvals.ts';
import { bash, homeWithCommands } from '../../support/agent/extensions.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import { type ServerOptions, startServer } from '../../support/server/test-server.ts';
import { toolCallStep, toolEnds } from '../../support/tools/host-tools.ts';

const EVERYTHING = ['view', 'prompt', 'bash', 'admin'];
const TOKENS = {
  'token-of-the-phone-1': { name: 'phone', scopes: EVERYTHING, limit: 'auto' },
  'token-of-a-planner-1': { name: 'planner', scopes: EVERYTHING, limit: 'plan' },
  'token-of-a-writer-1': { name: 'writer', scopes: EVERYTHING, limit: 'edit' },
};
const [PHONE = '', PLANNER = '', WRITER = ''] = Object.keys(TOKENS);

const startLimited = (options: ServerOptions) =>
  startServer({ tokens: TOKENS, agentArgs: ['--sandbox', 'off'], ...options });

/** Ends every run after its first tool call. */
const ONE_TURN = { turns: 1 };

const touch = { ...bash('echo x >> runs'), when: '.', keep: true };

it('[A155] the run of a limited client has its limit, and the next one of the owner the mode of the session', async () => {
  const server = await startLimited({ script: [touch] });
  const owner = await server.attach();
  const phone = await server.attach({ session: owner.cursor.session, token: PHONE });
  const runs = join(server.home.cwd, 'runs');

  await phone.ok({ type: 'prompt', message: 'go', limits: ONE_TURN, approvalLimit: 'full' });
  const question = await nextQuestion(owner);
  answer(phone, await nextQuestion(phone), 'allow_once');
  const refusal = await phone.next('server_error');
  const repeated = await nextQuestion(phone);
  answer(phone, repeated, 'allow_session');
  await phone.next('server_error');
  const { approvalMode, pendingUi } = await owner.ok({ type: 'get_state' });
  const existed = existsSync(runs);
  answer(owner, question, 'allow_once');
  await owner.next('agent_settled');
  await owner.ok({ type: 'prompt', message: 'go', limits: ONE_TURN });
  await owner.next('agent_settled');

  expect(question.approval).toMatchObject({ needs: 'full', why: { mode: 'auto' } });
  expect(refusal).toMatchObject({ code: 'permission_denied' });
  expect(repeated).toMatchObject({ id: question.id, approval: question.approval });
  expect({ approvalMode, open: pendingUi.length, existed }).toEqual({ approvalMode: 'full', open: 1, existed: false });
  expect(readFileSync(runs, 'utf8')).toBe('x\nx\n');
  expect(allQuestions(owner)).toHaveLength(1);
});

it('[A155] a limited client allows what its limit would run, denies everything, and raises no rights', async () => {
  const write = toolCallStep('write', { path: 'a.txt', content: 'x' });
  const server = await startLimited({ script: [write, bash('touch b.txt'), { text: 'done' }] });
  const owner = await server.attach();
  await owner.ok({ type: 'set_approval_mode', mode: 'ask', sandbox: 'off' });
  const writer = await server.attach({ session: owner.cursor.session, token: WRITER });

  for (const command of [
    { type: 'set_approval_mode', mode: 'full' },
    { type: 'set_approval_mode', mode: 'edit' },
    { type: 'bash', command: 'true' },
    { type: 'set_mcp_servers', servers: {} },
  ])
    expect(await writer.refused(command), command.type).toMatchObject({ code: 'permission_denied' });
  await writer.ok({ type: 'prompt', message: 'go' });
  answer(writer, await nextQuestion(writer), 'allow_once');
  answer(writer, await nextQuestion(writer), 'reject_once');
  const settled = await writer.next('agent_settled');

  expect(settled).toMatchObject({ outcome: 'ok' });
  expect(toolEnds(writer.records).map(({ isError }) => isError)).toEqual([false, true]);
  expect(['a.txt', 'b.txt'].filter((name) => existsSync(join(server.home.cwd, name)))).toEqual(['a.txt']);
  expect((await owner.ok({ type: 'get_state' })).approvalMode).toBe('ask');
});

it('[A155] a run that a limited client steers has its limit from then on', async () => {
  const gate = newGate();
  const server = await startLimited({
    script: [
      { steps: [{ await: gate.path }, toolCallStep('bash', { command: 'true' }, 'before')] },
      { steps: [toolCallStep('bash', { command: 'true' }, 'after')] },
      { text: 'done' },
      { steps: [toolCallStep('bash', { command: 'true' }, 'next run')] },
      { text: 'done' },
    ],
  });
  const owner = await server.attach();
  const phone = await server.attach({ session: owner.cursor.session, token: PHONE });

  await owner.ok({ type: 'prompt', message: 'go' });
  await phone.ok({ type: 'steer', message: 'and this', approvalLimit: 'full' });
  gate.open();
  const question = await nextQuestion(owner);
  answer(owner, question, 'allow_once');
  await owner.next('agent_settled');
  await owner.run('again');

  expect(question.approval).toMatchObject({ toolCallId: 'after', why: { mode: 'auto' } });
  expect(toolEnds(owner.records).map(({ toolCallId }) => toolCallId)).toEqual(['before', 'after', 'next run']);
  expect(allQuestions(owner)).toHaveLength(1);
});

it('[A155] a queued message keeps the limit of its sender after a crash of the agent', async () => {
  const server = await startLimited({
    script: [
      { steps: [{ text: 'Well ' }, { stall: true }], when: '^stall' },
      { ...bash('echo x >> runs'), when: '^(next|later)', keep: true },
    ],
  });
  const owner = await server.attach();
  const planner = await server.attach({ session: owner.cursor.session, token: PLANNER });
  await owner.ok({ type: 'prompt', message: 'stall' });
  await owner.next('message_update');
  await planner.ok({ type: 'follow_up', message: 'later' });
  server.killAgent();
  await owner.next('agent_settled');

  await owner.ok({ type: 'prompt', message: 'next', limits: ONE_TURN });
  await owner.next('agent_settled');
  const withoutQuestion = allQuestions(owner).length;
  await owner.ok({ type: 'prompt', message: 'finish', limits: { turns: 2 } });
  const question = await nextQuestion(owner);
  await owner.ok({ type: 'abort' });

  expect(withoutQuestion).toBe(0);
  expect(question.approval.why).toEqual({ mode: 'plan' });
  expect(readFileSync(join(server.home.cwd, 'runs'), 'utf8')).toBe('x\n');
});

it('[A155] a limit of plan lets no write through, whatever the client claims, and holds in a new session', async () => {
  const write = { ...toolCallStep('write', { path: 'a.txt', content: 'x' }), when: '.', keep: true };
  const server = await startLimited({ script: [write] });
  const planner = await server.attach({ token: PLANNER });

  for (const type of ['prompt', 'abort_and_prompt', 'follow_up', 'steer']) {
    await planner.ok({ type, message: 'go', approvalLimit: 'full', mayLoosen: true, limits: ONE_TURN });
    await planner.next('agent_settled');
  }
  await planner.ok({ type: 'new_session' });
  await planner.ok({ type: 'prompt', message: 'go', limits: ONE_TURN });
  await planner.next('agent_settled');

  expect(toolEnds(planner.records).map(({ text }) => text)).toEqual(Array(5).fill('Not allowed in plan mode.'));
  expect(existsSync(join(server.home.cwd, 'a.txt'))).toBe(false);
});

for (const [words, fields, isWritten] of [
  ['a message that denies a call limits the run', { message: 'Write a.txt instead' }, false],
  ['a denial without a message does not', {}, true],
] as const)
  it(`[A155] of a limited client ${words}`, async () => {
    const write = toolCallStep('write', { path: 'a.txt', content: 'x' });
    const server = await startLimited({ script: [bash('true'), write, { text: 'done' }] });
    const owner = await server.attach();
    await owner.ok({ type: 'set_approval_mode', mode: 'edit', sandbox: 'off' });
    const planner = await server.attach({ session: owner.cursor.session, token: PLANNER });
    await owner.ok({ type: 'prompt', message: 'go' });

    answer(planner, await nextQuestion(planner), 'reject_once', fields);
    await owner.next('agent_settled');

    expect(existsSync(join(server.home.cwd, 'a.txt'))).toBe(isWritten);
    expect(toolEnds(owner.records).map(({ isError }) => isError)).toEqual([true, !isWritten]);
  });

it.each([
  ['sendUserMessage', "pi.sendUserMessage('relayed ' + args);"],
  ['a later sendUserMessage', "await null; setImmediate(() => pi.sendUserMessage('relayed'));"],
  ['another command', "pi.sendUserMessage('/again', { expandPromptTemplates: true });"],
  ['sendMessage', "pi.sendMessage({ customType: 'x', content: 'relayed', display: true }, { triggerTurn: true });"],
])(
  '[A155] a run that an extension opens with %s for a command of a limited client has its limit',
  async (_name, body) => {
    const { home } = homeWithCommands({ relay: body, again: "pi.sendUserMessage('once more');" });
    const write = { ...toolCallStep('write', { path: 'a.txt', content: 'x' }), when: '.', keep: true };
    const server = await startLimited({
      home,
      script: [write, toolCallStep('write', { path: 'a.txt', content: 'x' })],
    });
    const planner = await server.attach({ token: PLANNER });

    await planner.ok({ type: 'prompt', message: '/relay text' });
    await planner.next('tool_execution_end');
    await planner.ok({ type: 'abort' });

    expect(toolEnds(planner.records)[0]).toMatchObject({ text: 'Not allowed in plan mode.' });
  },
);
