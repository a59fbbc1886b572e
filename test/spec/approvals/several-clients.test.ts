import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allQuestions, answer, nextQuestion, recordedAnswers } from '../../support/agent/approvals.ts';
import { bash } from '../../support/agent/extensions.ts';
import { readSessionFile } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { type ServerOptions, startServer } from '../../support/server/test-server.ts';
import { toolCallStep, toolEnds } from '../../support/tools/host-tools.ts';

const ASK = ['--approvals', 'ask', '--sandbox', 'off'];
const COMMAND = 'touch made-by-the-secret-command';
const CALL = { ...toolCallStep('bash', { command: COMMAND }, 'call-1'), when: '^go' };

const VIEWER = 'token-of-a-viewer-1';
const TOKENS = { [VIEWER]: { name: 'viewer', scopes: ['view'] } };

const start = (options: ServerOptions = {}) =>
  startServer({ args: ASK, tokens: TOKENS, script: [CALL, { text: 'done' }], ...options });

const isResolved = (id: string) => (record: WireRecord) =>
  record.type === 'extension_ui_resolved' && record['id'] === id;

it('[A121 A134] of two clients the first answer counts, and who gave it is audited without the command', async () => {
  const server = await start();
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });
  await first.ok({ type: 'prompt', message: 'go' });
  const questions = [await nextQuestion(first), await nextQuestion(second)] as const;

  answer(second, questions[1], 'allow_always');
  await first.next(isResolved(questions[0].id));
  answer(first, questions[0], 'reject_stop');
  const settled = await first.next('agent_settled');

  expect(settled).toMatchObject({ outcome: 'ok' });
  expect(toolEnds(first.records)).toMatchObject([{ toolCallId: 'call-1', isError: false }]);
  expect(existsSync(join(server.home.cwd, 'made-by-the-secret-command'))).toBe(true);
  const { sessionFile } = await first.ok({ type: 'get_state' });
  expect(recordedAnswers(readSessionFile(sessionFile))).toEqual([
    { toolCallId: 'call-1', toolName: 'bash', option: 'allow_always', rule: `bash(${COMMAND})` },
  ]);
  const audit = join(server.home.agentDir, 'server', 'audit.jsonl');
  await expect.poll(() => readFileSync(audit, 'utf8')).toContain('"approval"');
  const lines = readFileSync(audit, 'utf8').trim().split('\n');
  const approvals = lines.map((line) => JSON.parse(line)).filter(({ message }) => message === 'approval');
  expect(approvals).toMatchObject([{ tool: 'bash', kind: 'tool', option: 'allow_always', outcome: 'ok' }]);
  expect(lines.join('\n')).not.toContain('secret');
});

it('[A121] clients that resume and a second device can answer the open question, and see the card of its call', async () => {
  const server = await start();
  const first = await server.attach({ stream: 'delta' });
  const before = first.cursor;
  await first.ok({ type: 'prompt', message: 'go' });
  const question = await nextQuestion(first);
  const behind = first.cursor;
  await first.disconnect();

  const resumed = server.connect({ ...before, stream: 'delta' });
  const other = server.connect({ ...behind, stream: 'delta' });
  const device = await server.attach({ session: before.session });
  const shown = [await nextQuestion(resumed), await nextQuestion(device)];
  const cards = [await resumed.find('tool_execution_start'), await device.find('tool_execution_start')];
  answer(other, question, 'allow_once');
  await device.next('agent_settled');

  for (const peer of [resumed, other]) expect(await peer.find('server_connected')).toMatchObject({ resume: 'ok' });
  for (const one of shown)
    expect(one).toMatchObject({ id: question.id, title: question.title, approval: question.approval });
  for (const peer of [resumed, device]) expect(allQuestions(peer)).toHaveLength(1);
  // A client that resumes behind the question has it.
  expect(allQuestions(other)).toEqual([]);
  for (const card of cards) expect(card).toMatchObject({ toolCallId: 'call-1', toolName: 'bash' });
  expect(toolEnds(device.records)).toMatchObject([{ toolCallId: 'call-1', isError: false }]);
});

it('[A121 A128] without a client that can answer, a question is denied after waitMs, and viewers never see it', async () => {
  const server = await start({ settings: { approvals: { waitMs: 1 } } });
  const owner = await server.attach();
  const viewer = await server.attach({ session: owner.cursor.session, token: VIEWER });
  await owner.ok({ type: 'prompt', message: 'go' });
  const question = await nextQuestion(owner);
  answer(viewer, question, 'allow_once');
  await viewer.ok({ type: 'ping' });
  await owner.disconnect();

  const resolved = await viewer.next(isResolved(question.id));
  const settled = await viewer.next('agent_settled');
  const late = await server.attach({ session: owner.cursor.session });

  expect(question.approval.waitMs).toBe(1);
  expect(resolved).toMatchObject({ by: 'timeout' });
  expect(settled).toMatchObject({ outcome: 'ok' });
  expect(allQuestions(viewer)).toEqual([]);
  expect(allQuestions(late)).toEqual([]);
  const { messages } = await late.ok({ type: 'get_messages' });
  expect(messages.find(({ role }: { role: string }) => role === 'toolResult')).toMatchObject({
    isError: true,
    details: { denied: true, by: 'nobody' },
  });
  expect(readdirSync(server.home.cwd)).toEqual([]);
});

it('[A129] an agent that is killed while a question is open settles its run once, and the tool never runs', async () => {
  const server = await start({ script: [CALL, { text: 'Going on.', when: '^next', keep: true }] });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });
  const { runId } = await first.ok({ type: 'prompt', message: 'go' });
  const question = await nextQuestion(first);

  server.killAgent();
  const settled = await second.next('agent_settled');
  await second.next(({ type, state }) => type === 'state_synced' && state !== undefined);
  answer(first, question, 'allow_session');
  const { pendingUi, isIdle } = await first.ok({ type: 'get_state' });
  await first.run('next');

  expect(settled).toMatchObject({ runId, outcome: 'error', errorCode: 'interrupted' });
  for (const peer of [first, second]) {
    expect(await peer.find(isResolved(question.id))).toMatchObject({ id: question.id });
    const ends = peer.records.filter((record) => record.type === 'agent_settled' && record['runId'] === runId);
    expect(ends).toHaveLength(1);
  }
  expect({ pendingUi, isIdle }).toEqual({ pendingUi: [], isIdle: true });
  expect(readdirSync(server.home.cwd)).toEqual([]);
  const { messages } = await first.ok({ type: 'get_messages' });
  expect(messages.find(({ role }: { role: string }) => role === 'toolResult')).toMatchObject({ isError: true });
});

it('[A131] a mode that one client chooses survives the park of the agent, and holds in sessions that come from it', async () => {
  const server = await startServer({
    args: ['--sandbox', 'off', '--park-after', '0'],
    script: [{ ...bash('true'), when: '.', keep: true }],
  });
  const first = await server.attach();
  await first.ok({ type: 'set_approval_mode', mode: 'ask' });
  const { session } = first.cursor;
  await first.ok({ type: 'prompt', message: 'go', limits: { turns: 1 } });
  answer(first, await nextQuestion(first), 'reject_once');
  await first.next('agent_settled');
  await first.disconnect();

  const again = await server.attach({ session });
  const modes = [(await again.ok({ type: 'get_state' })).approvalMode];
  for (const command of ['clone', 'fork', 'new_session']) {
    const [message] = (await again.ok({ type: 'get_fork_messages' })).messages;
    await again.ok({ type: command, ...(command === 'fork' ? { entryId: message.entryId } : {}) });
    modes.push((await again.ok({ type: 'get_state' })).approvalMode);
  }

  expect(modes).toEqual(['ask', 'ask', 'ask', 'ask']);
});

it('[A131] a client without admin may choose a stricter mode and no looser one', async () => {
  const token = 'token-of-a-prompter-1';
  const server = await startServer({
    args: ['--sandbox', 'off'],
    tokens: { [token]: { name: 'prompter', scopes: ['view', 'prompt'] } },
  });
  const owner = await server.attach();
  const prompter = await server.attach({ session: owner.cursor.session, token });

  await prompter.ok({ type: 'set_approval_mode', mode: 'ask' });
  const refusals = [];
  for (const mode of ['edit', 'full'])
    refusals.push(await prompter.refused({ type: 'set_approval_mode', mode, mayLoosen: true }));
  await owner.ok({ type: 'set_approval_mode', mode: 'edit' });

  for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'permission_denied' });
  expect((await prompter.ok({ type: 'get_state' })).approvalMode).toBe('edit');
});
