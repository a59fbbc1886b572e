import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  allQuestions,
  answer,
  approvalFlags,
  bashTurn,
  callOutcome,
  nextQuestion,
  type Question,
  recordedAnswers,
} from '../../support/agent/approvals.ts';
import { bash, callTool, homeWithCommands } from '../../support/agent/extensions.ts';
import { type Home, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { toolCallStep, toolEnds } from '../../support/tools/host-tools.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

const ASK = approvalFlags('ask');

/** Runs a prompt whose calls are all answered with one kind; returns the number of questions. */
async function runAnswering(peer: Peer, kind: Parameters<typeof answer>[2]): Promise<number> {
  const before = allQuestions(peer).length;
  await peer.ok({ type: 'prompt', message: 'go' });
  for (;;) {
    const record = await peer.next(({ type }) => type === 'extension_ui_request' || type === 'agent_settled');
    if (record.type === 'agent_settled') return allQuestions(peer).length - before;
    answer(peer, record, kind);
  }
}

verifies('A126', 'Allow once allows one call, and an equal one is questioned again', async ({ open }) => {
  const { peer } = await open({ args: ASK, script: [bash('echo one'), bash('echo one'), { text: 'done' }] });

  expect(await runAnswering(peer, 'allow_once')).toBe(2);

  expect(toolEnds(peer.records).map(({ isError }) => isError)).toEqual([false, false]);
});

verifies('A126', 'Allow for this session holds for the same words, and for no others', async ({ open }) => {
  const same = ['echo one', '  echo   one ', 'echo "one"'];
  const others = [
    'echo one two',
    'echo',
    'ECHO one',
    'echo one; echo two',
    './echo one',
    'echo one > file',
    'echo $one',
  ];
  const { peer } = await open({
    args: ASK,
    script: [bash('echo one'), { text: 'done' }, bashTurn(...same, ...others), { text: 'done' }],
  });
  expect(await runAnswering(peer, 'allow_session')).toBe(1);

  await peer.ok({ type: 'prompt', message: 'go' });
  const outcomes = [];
  for (const index of [...same, ...others].keys()) outcomes.push(await callOutcome(peer, `c${index}`));
  await peer.ok({ type: 'abort' });

  expect(outcomes).toEqual([...same.map(() => 'ran'), ...others.map(() => 'questioned')]);
  expect((await peer.ok({ type: 'get_approvals' })).approvals).toEqual([{ rule: 'bash(echo one)', scope: 'session' }]);
});

verifies('A126', 'Allow for this session answers the open questions that it covers', async ({ open }) => {
  const { peer } = await open({ args: ASK, script: [bashTurn('echo one', 'echo  one', 'echo two'), { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  const [first, second, third] = [
    await nextQuestion(peer, 'c0'),
    await nextQuestion(peer, 'c1'),
    await nextQuestion(peer, 'c2'),
  ];

  answer(peer, first, 'allow_session');
  const resolved = await peer.find((record) => record.type === 'extension_ui_resolved' && record['id'] === second.id);
  await peer.find((record) => record.type === 'tool_execution_end' && record['toolCallId'] === 'c1');
  const { pendingUi } = await peer.ok({ type: 'get_state' });
  answer(peer, third, 'allow_once');
  await peer.next('agent_settled');

  expect(resolved).toMatchObject({ by: 'agent' });
  expect(pendingUi.map(({ id }: { id: string }) => id)).toEqual([third.id]);
  expect(toolEnds(peer.records).map(({ isError }) => isError)).toEqual([false, false, false]);
});

verifies('A126', 'Allow for this session covers one file, and one tool of an extension', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    `for (const name of ['mine', 'other']) pi.registerTool({
      name, label: name, description: name, parameters: { type: 'object', properties: {} },
      execute: async () => ({ content: [{ type: 'text', text: name }], details: {} }),
    });`,
  );
  const write = (path: string) => callTool('write', { path, content: 'x' });
  const turns = [write('a.txt'), write('./a.txt'), write('b.txt'), callTool('mine', { a: 1 }), callTool('mine', {})];
  const { peer } = await open({ home, args: ASK, script: [...turns, callTool('other', {}), { text: 'done' }] });

  await runAnswering(peer, 'allow_session');

  expect(allQuestions(peer).map(({ approval }) => [approval.toolName, approval.subject])).toEqual([
    ['write', expect.objectContaining({ path: join(home.cwd, 'a.txt') })],
    ['write', expect.objectContaining({ path: join(home.cwd, 'b.txt') })],
    ['mine', { type: 'tool', input: { a: 1 } }],
    ['other', { type: 'tool', input: {} }],
  ]);
});

verifies(
  'A126',
  'an approval for the session ends with the session',
  async ({ open }) => {
    const echo = { ...bash('echo one'), when: '.', keep: true };
    const { peer } = await open({ args: ASK, script: [echo] });
    const limits = { turns: 1 };
    await peer.ok({ type: 'prompt', message: 'go', limits });
    answer(peer, await nextQuestion(peer), 'allow_session');
    await peer.next('agent_settled');
    const { sessionFile } = await peer.ok({ type: 'get_state' });

    for (const command of [{ type: 'new_session' }, { type: 'switch_session', sessionPath: sessionFile }]) {
      await peer.ok(command);
      expect((await peer.ok({ type: 'get_approvals' })).approvals).toEqual([]);
      await peer.ok({ type: 'prompt', message: 'go', limits });
      answer(peer, await nextQuestion(peer), 'allow_once');
      await peer.next('agent_settled');
    }

    expect(allQuestions(peer)).toHaveLength(3);
  },
  AGENT_SWITCHES_SESSION,
);

/** The paths of all files below a folder, with their contents. */
const contentOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => [name, statSync(join(folder, name)).isFile() ? readFileSync(join(folder, name), 'utf8') : '']);

const script = [bash('echo kept'), { text: 'done' }];

verifies('A127', 'Always allow is saved for one project, outside of it, until it is withdrawn', async ({ open }) => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'README.md'), 'project');
  const before = contentOf(home.cwd);
  const first = await open({ home, args: ASK, script });
  await first.peer.ok({ type: 'prompt', message: 'go' });
  const question = await nextQuestion(first.peer);
  answer(first.peer, question, 'allow_always');
  await first.peer.next('agent_settled');
  await first.close();
  const other: Home = { ...home, cwd: join(home.root, 'other') };
  mkdirSync(other.cwd);

  const inOther = await open({ home: other, args: ASK, script });
  expect(await runAnswering(inOther.peer, 'reject_once')).toBe(1);
  await inOther.close();
  const again = await open({ home, args: ASK, script: [...script, ...script] });
  expect(await runAnswering(again.peer, 'reject_once')).toBe(0);
  const { approvals } = await again.peer.ok({ type: 'get_approvals' });
  await again.peer.ok({ type: 'remove_approval', rule: 'bash(echo kept)' });
  expect(await runAnswering(again.peer, 'reject_once')).toBe(1);

  const path = join(home.agentDir, 'approvals.json');
  expect(question.approval.options.find(({ kind }) => kind === 'allow_always')).toMatchObject({
    name: 'Always allow: echo kept',
    rule: 'bash(echo kept)',
  });
  expect(approvals).toEqual([{ rule: 'bash(echo kept)', scope: 'project', at: expect.any(String) }]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(contentOf(home.cwd)).toEqual(before);
  expect(await again.peer.refused({ type: 'remove_approval', rule: 'bash(echo kept)' })).toMatchObject({
    code: 'not_found',
  });
});

verifies('A127', 'an approval of the session that is withdrawn holds no longer', async ({ open }) => {
  const { peer } = await open({ args: ASK, script: [...script, ...script, ...script] });
  expect(await runAnswering(peer, 'allow_session')).toBe(1);
  expect(await runAnswering(peer, 'allow_session')).toBe(0);

  await peer.ok({ type: 'remove_approval', rule: 'bash(echo kept)' });

  expect((await peer.ok({ type: 'get_approvals' })).approvals).toEqual([]);
  expect(await runAnswering(peer, 'reject_once')).toBe(1);
  for (const rule of ['', 7, null, 'bash'])
    expect(await peer.refused({ type: 'remove_approval', rule })).toMatchObject({
      code: rule === 'bash' ? 'not_found' : 'invalid_params',
    });
});

verifies('A127', 'nothing is offered for always that runs any code, or that a rule asks about', async ({ open }) => {
  const never = ['bash -c ls', 'python3 -c 1', 'env ls', 'sudo ls', 'rm -rf x', 'npm run', 'git -c a=b log', 'ls > f'];
  const { peer } = await open({
    args: ASK,
    settings: { approvals: { ask: ['bash(echo *)'] } },
    script: [bashTurn(...never, 'echo one'), { text: 'done' }],
  });
  await peer.ok({ type: 'prompt', message: 'go' });

  for (const index of [...never, 'echo one'].keys()) await nextQuestion(peer, `c${index}`);
  await peer.ok({ type: 'abort' });

  for (const { approval } of allQuestions(peer))
    expect(approval.options.map(({ kind }) => kind)).not.toContain('allow_always');
});

verifies('A128', 'a denial reaches the model with its message, and the run continues', async ({ open }) => {
  const { peer } = await open({ args: ASK, script: [bash('touch made'), { text: 'Then not.' }] });
  await peer.ok({ type: 'prompt', message: 'go' });

  answer(peer, await nextQuestion(peer), 'reject_once', { message: 'Use make' });
  const settled = await peer.next('agent_settled');
  await peer.ok({ type: 'wait_idle' });

  expect(toolEnds(peer.records)).toMatchObject([
    { isError: true, text: expect.stringContaining('did not allow this call: Use make.'), details: { denied: true } },
  ]);
  expect(settled).toMatchObject({ outcome: 'ok' });
  expect(peer.records.filter(({ type }) => type === 'agent_settled')).toHaveLength(1);
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'Then not.' });
});

verifies('A128', 'Deny and stop closes all open questions, runs no tool and aborts the run', async ({ open }) => {
  const { peer, home } = await open({
    args: ASK,
    script: [bashTurn('touch a', 'touch b', 'touch c'), { text: 'never' }],
  });
  await peer.ok({ type: 'prompt', message: 'go' });
  const questions: Question[] = [];
  for (const id of ['c0', 'c1', 'c2']) questions.push(await nextQuestion(peer, id));

  answer(peer, questions[1] as Question, 'reject_stop');
  const settled = await peer.next('agent_settled');
  const { pendingUi, isIdle } = await peer.ok({ type: 'get_state' });

  expect(settled).toMatchObject({ outcome: 'aborted' });
  expect({ pendingUi, isIdle }).toEqual({ pendingUi: [], isIdle: true });
  expect(toolEnds(peer.records).map(({ isError }) => isError)).toEqual([true, true, true]);
  for (const index of [0, 2])
    await peer.find((record) => record.type === 'extension_ui_resolved' && record['id'] === questions[index]?.id);
  expect(readdirSync(home.cwd)).toEqual([]);
});

const odd = [
  { value: 'Allow' },
  { value: '' },
  { value: 'allow_once' },
  { value: 'ALLOW ONCE' },
  { value: 0 },
  { value: ['Allow once'] },
  { value: null },
  { confirmed: true },
  { cancelled: true },
  { value: 'Allow once', cancelled: true },
  {},
];

verifies('A128', 'an answer that is no option, and a cancelled one, deny', async ({ open }) => {
  const commands = odd.map((_fields, index) => `touch f${index}`);
  const { peer, home } = await open({ args: ASK, script: [bashTurn(...commands), { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'go' });

  for (const [index, fields] of odd.entries()) {
    const { id } = await nextQuestion(peer, `c${index}`);
    peer.send({ type: 'extension_ui_response', id, ...fields });
  }
  const settled = await peer.next('agent_settled');

  expect(settled).toMatchObject({ outcome: 'ok' });
  expect(toolEnds(peer.records).map(({ isError, details }) => [isError, details])).toEqual(
    odd.map(() => [true, { denied: true, by: 'client' }]),
  );
  expect(readdirSync(home.cwd)).toEqual([]);
});

verifies('A128', 'an answer to no open question, and a second answer, change nothing', async ({ open }) => {
  const { peer, home } = await open({ args: ASK, script: [bash('touch a'), bash('touch b'), { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  const first = await nextQuestion(peer);
  answer(peer, first, 'reject_once');
  const second = await nextQuestion(peer);

  answer(peer, first, 'allow_session');
  peer.send({ type: 'extension_ui_response', id: 'no-such-question', value: 'Allow once' });
  const { pendingUi } = await peer.ok({ type: 'get_state' });
  answer(peer, second, 'reject_once');
  await peer.next('agent_settled');

  expect(pendingUi.map(({ id }: { id: string }) => id)).toEqual([second.id]);
  expect(['a', 'b'].filter((name) => existsSync(join(home.cwd, name)))).toEqual([]);
});

verifies(
  'A134',
  'the session keeps the call, the option and its rule of each answer, and no word of the command',
  async ({ open }) => {
    const commands = ['echo secret-once', 'echo secret-session', 'echo secret-always', 'echo secret-no'];
    const kinds = ['allow_once', 'allow_session', 'allow_always', 'reject_once'] as const;
    const { peer } = await open({ args: ASK, script: [bashTurn(...commands), { text: 'done' }] });
    await peer.ok({ type: 'prompt', message: 'go' });

    for (const [index, kind] of kinds.entries())
      answer(peer, await nextQuestion(peer, `c${index}`), kind, { message: 'private words' });
    await peer.next('agent_settled');
    const { sessionFile } = await peer.ok({ type: 'get_state' });

    const answers = recordedAnswers(readSessionFile(sessionFile));
    expect(answers).toEqual([
      { toolCallId: 'c0', toolName: 'bash', option: 'allow_once' },
      { toolCallId: 'c1', toolName: 'bash', option: 'allow_session' },
      { toolCallId: 'c2', toolName: 'bash', option: 'allow_always', rule: 'bash(echo secret-always)' },
      { toolCallId: 'c3', toolName: 'bash', option: 'reject_once' },
    ]);
    expect(JSON.stringify(answers)).not.toContain('private words');
  },
);

verifies(
  'A134',
  'an answered call of a tool in one turn is recorded once, and a closed question not at all',
  async ({ open }) => {
    const steps = [
      toolCallStep('write', { path: 'a.txt', content: 'secret' }, 'w'),
      toolCallStep('bash', { command: 'true' }, 'b'),
    ];
    const { peer } = await open({ args: ASK, script: [{ steps }, { text: 'done' }] });
    await peer.ok({ type: 'prompt', message: 'go' });
    await nextQuestion(peer, 'b');

    answer(peer, await nextQuestion(peer, 'w'), 'allow_once');
    await peer.find((record) => record.type === 'tool_execution_end' && record['toolCallId'] === 'w');
    await peer.ok({ type: 'abort' });
    await peer.next('agent_settled');
    const { sessionFile } = await peer.ok({ type: 'get_state' });

    expect(recordedAnswers(readSessionFile(sessionFile))).toEqual([
      { toolCallId: 'w', toolName: 'write', option: 'allow_once' },
    ]);
  },
);
