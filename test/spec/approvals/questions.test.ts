import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allQuestions, answer, approvalFlags, bashTurn, nextQuestion } from '../../support/agent/approvals.ts';
import { bash, callTool, homeWithCommands, userExtension } from '../../support/agent/extensions.ts';
import { connectWhenListening, newHome, openTestAgent, scriptArgs } from '../../support/agent/test-agent.ts';
import { Peer } from '../../support/clients/peer.ts';
import { runTau } from '../../support/processes/program.ts';
import { toolCallStep, toolEnds } from '../../support/tools/host-tools.ts';
import { stdioServer, writeMcpServers } from '../../support/tools/mcp.ts';
import { verifies } from '../../support/verifies.ts';

const ASK = approvalFlags('ask');

const write = (path: string, content: string, id?: string) => toolCallStep('write', { path, content }, id);

const indexOf = ({ records }: Peer, type: string) => records.findIndex((record) => record.type === type);

verifies(
  'A121',
  'a question follows the start of its call, and the file exists only after the approval',
  async (fixture) => {
    const { peer, home } = await fixture.open({
      args: ASK,
      script: [write('new.txt', 'one\ntwo\n', 'call-1'), { text: 'done' }],
    });
    const path = join(home.cwd, 'new.txt');
    await peer.ok({ type: 'prompt', message: 'go' });

    const question = await nextQuestion(peer);
    const { pendingUi } = await peer.ok({ type: 'get_state' });
    const existsBefore = existsSync(path);
    answer(peer, question, 'allow_once');
    const { outcome } = await peer.next('agent_settled');

    expect(existsBefore).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
    expect(outcome).toBe('ok');
    expect(indexOf(peer, 'tool_execution_start')).toBeLessThan(indexOf(peer, 'extension_ui_request'));
    expect(indexOf(peer, 'extension_ui_request')).toBeLessThan(indexOf(peer, 'tool_execution_end'));
    expect(allQuestions(peer)).toHaveLength(1);
    expect(pendingUi).toMatchObject([{ id: question.id, approval: question.approval }]);
    expect(question).toMatchObject({
      method: 'select',
      options: question.approval.options.map(({ name }) => name),
      approval: {
        kind: 'tool',
        toolCallId: 'call-1',
        toolName: 'write',
        source: 'builtin',
        subject: { type: 'edit', path, diff: expect.stringContaining('one') },
        needs: 'edit',
        why: { mode: 'ask' },
      },
    });
    expect(question).not.toHaveProperty('timeout');
  },
);

verifies(
  'A121',
  'a client that knows only dialogs sees a choice, and its plain answer allows the call',
  async (fixture) => {
    const { peer } = await fixture.open({ args: ASK, script: [bash('echo made'), { text: 'done' }] });
    await peer.ok({ type: 'prompt', message: 'go' });

    const { id, method, title, options } = await nextQuestion(peer);
    peer.send({ type: 'extension_ui_response', id, value: options[0] });
    await peer.next('agent_settled');

    expect({ method, allow: options[0], deny: options.at(-2) }).toEqual({
      method: 'select',
      allow: 'Allow once',
      deny: 'Deny',
    });
    expect(title).toContain('echo made');
    expect(toolEnds(peer.records)).toMatchObject([{ isError: false, text: expect.stringContaining('made') }]);
  },
);

verifies(
  'A121',
  'a question escapes what a terminal hides, and a command that is too long can be allowed once only',
  async (fixture) => {
    const hidden = 'echo \u001B[2Ja\u202Eb\u200B #\tc';
    const long = `echo ${'x'.repeat(9000)}`;
    const { peer } = await fixture.open({ args: ASK, script: [bashTurn(hidden, long), { text: 'done' }] });
    await peer.ok({ type: 'prompt', message: 'go' });

    const [escaped, cut] = [await nextQuestion(peer, 'c0'), await nextQuestion(peer, 'c1')];
    await peer.ok({ type: 'abort' });

    const { title, approval } = escaped;
    expect(approval.subject).toMatchObject({ command: 'echo \\u{1b}[2Ja\\u{202e}b\\u{200b} #\\tc' });
    expect(title).toContain('\\u{1b}[2J');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be shown
    expect(`${title}${cut.title}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e\u200b]/);
    expect(cut.approval.isCut).toBe(true);
    expect(cut.approval.options.map(({ kind }) => kind)).toEqual(['allow_once', 'reject_once']);
    expect(cut.title.length).toBeLessThan(9000);
  },
);

verifies('A124', 'the bash of an extension is questioned as its tool, whatever rules allow bash', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'own-bash.ts',
    `export default (pi) => pi.registerTool({
      name: 'bash', label: 'bash', description: 'own', parameters: { type: 'object', properties: { command: { type: 'string' } } },
      execute: async () => ({ content: [{ type: 'text', text: 'own' }], details: {} }),
    });`,
  );
  const { peer } = await open({
    home,
    args: approvalFlags('auto'),
    settings: { startWaitMs: 3_600_000, approvals: { allow: ['bash', 'bash(echo *)'] } },
    script: [bash('echo hi'), { text: 'done' }],
  });
  await peer.ok({ type: 'prompt', message: 'go' });

  const { approval, title } = await nextQuestion(peer);
  const state = await peer.ok({ type: 'get_state' });
  await peer.ok({ type: 'abort' });

  expect(approval).toMatchObject({ toolName: 'bash', source: 'extension', subject: { type: 'tool' }, needs: 'full' });
  expect(approval.description).toMatch(/with your rights/);
  expect(title).toContain(approval.description);
  expect(state).toMatchObject({ approvalMode: 'auto', sandbox: { status: 'off' } });
  expect(toolEnds(peer.records).map(({ isError }) => isError)).toEqual([true]);
});

const readOnlyTool = { name: 'read_notes', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };

for (const [allow, isQuestioned] of [
  [[], true],
  [['files__write_*', 'read_notes'], true],
  [['files__read_*'], false],
] as const)
  verifies(
    'A124',
    `a read-only MCP tool is ${isQuestioned ? '' : 'not '}questioned with ${JSON.stringify(allow)}`,
    async (fixture) => {
      const home = newHome();
      writeMcpServers(home, { files: stdioServer({ tools: [readOnlyTool] }) });
      const { peer } = await fixture.open({
        home,
        args: ASK,
        settings: { approvals: { allow } },
        script: [callTool('files__read_notes', {}), { text: 'done' }],
      });
      await peer.ok({ type: 'prompt', message: 'go' });

      if (isQuestioned) {
        const question = await nextQuestion(peer);
        expect(question.approval).toMatchObject({ source: 'mcp', needs: 'full' });
        expect(question.approval.description).toMatch(/with your rights/);
        answer(peer, question, 'allow_once');
      }
      await peer.next('agent_settled');

      expect(allQuestions(peer)).toHaveLength(isQuestioned ? 1 : 0);
      expect(toolEnds(peer.records)).toMatchObject([{ isError: false, text: '{}' }]);
    },
  );

verifies('A125', 'a question shows the command that hooks made, and that one runs', async (fixture) => {
  const { home } = homeWithCommands({}, "pi.on('tool_call', (event) => { event.input.command = 'echo changed'; });");
  const { peer } = await fixture.open({ home, args: ASK, script: [bash('echo given'), { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'go' });

  const question = await nextQuestion(peer);
  answer(peer, question, 'allow_once');
  await peer.next('agent_settled');

  expect(question.approval.subject).toMatchObject({ type: 'command', command: 'echo changed', cwd: home.cwd });
  expect(question.title).not.toContain('given');
  expect(toolEnds(peer.records)).toMatchObject([{ isError: false, text: expect.stringContaining('changed') }]);
});

verifies(
  'A125',
  'a call that a hook blocks, one with bad arguments and one of no tool fail without a question',
  async (fixture) => {
    const { home } = homeWithCommands(
      {},
      "pi.on('tool_call', (event) => (event.input.command === 'echo blocked' ? { block: true, reason: 'no' } : undefined));",
    );
    const steps = [
      toolCallStep('bash', { command: 'echo blocked' }),
      toolCallStep('bash', { command: 7, timeout: 'soon' }),
      toolCallStep('write', { path: 'a.txt' }),
      { toolCall: { name: 'edit', rawArguments: '{"path": ' } },
      toolCallStep('nothing', {}),
    ];
    const { peer } = await fixture.open({ home, args: ASK, script: [{ steps }, { text: 'done' }] });

    await peer.run('go');

    expect(allQuestions(peer)).toEqual([]);
    expect(toolEnds(peer.records).map(({ isError }) => isError)).toEqual(steps.map(() => true));
    expect(existsSync(join(home.cwd, 'a.txt'))).toBe(false);
  },
);

verifies('A129', 'an abort closes every open question, and later answers have no effect', async (fixture) => {
  const { peer, home } = await fixture.open({
    args: ASK,
    script: [{ steps: [write('a.txt', 'a', 'one'), write('b.txt', 'b', 'two')] }, bash('echo next'), { text: 'done' }],
  });
  await peer.ok({ type: 'prompt', message: 'go' });
  const questions = [await nextQuestion(peer, 'one'), await nextQuestion(peer, 'two')];

  await peer.ok({ type: 'abort' });
  const { outcome } = await peer.next('agent_settled');
  for (const question of questions) answer(peer, question, 'allow_session');
  const { pendingUi } = await peer.ok({ type: 'get_state' });
  await peer.ok({ type: 'prompt', message: 'again' });
  const next = await nextQuestion(peer);
  await peer.ok({ type: 'abort' });

  expect({ outcome, pendingUi }).toEqual({ outcome: 'aborted', pendingUi: [] });
  for (const { id } of questions)
    expect(await peer.find((record) => record.type === 'extension_ui_resolved' && record['id'] === id)).toMatchObject({
      by: 'abort',
    });
  expect(next.approval.toolName).toBe('bash');
  for (const name of ['a.txt', 'b.txt']) expect(existsSync(join(home.cwd, name))).toBe(false);
  const { approvals } = await peer.ok({ type: 'get_approvals' });
  expect(approvals).toEqual([]);
});

verifies(
  'A129',
  'an abort before a question, and one while an approved command runs, stop the call',
  async (fixture) => {
    const { home } = homeWithCommands(
      {},
      "pi.on('tool_call', (event) => (event.input.command === 'echo held' ? new Promise(() => {}) : undefined));",
    );
    const { peer } = await fixture.open({
      home,
      args: ASK,
      script: [bash('echo held'), bash('touch started; sleep 1000; touch ended'), { text: 'done' }],
    });

    await peer.ok({ type: 'prompt', message: 'held' });
    await peer.next('tool_execution_start');
    await peer.ok({ type: 'abort' });
    const first = await peer.next('agent_settled');
    await peer.ok({ type: 'prompt', message: 'running' });
    answer(peer, await nextQuestion(peer), 'allow_once');
    await expect.poll(() => existsSync(join(home.cwd, 'started'))).toBe(true);
    await peer.ok({ type: 'abort' });
    const second = await peer.next('agent_settled');

    expect([first.outcome, second.outcome]).toEqual(['aborted', 'aborted']);
    expect(allQuestions(peer)).toHaveLength(1);
    expect(toolEnds(peer.records).map(({ isError }) => isError)).toEqual([true, true]);
    expect(existsSync(join(home.cwd, 'ended'))).toBe(false);
  },
);

verifies(
  'A129',
  'a prompt that aborts the run closes its question, and its answer reaches no call of the new run',
  async ({ open }) => {
    const { peer, home } = await open({ args: ASK, script: [bash('touch a'), bash('touch b'), { text: 'done' }] });
    await peer.ok({ type: 'prompt', message: 'go' });
    const first = await nextQuestion(peer);

    await peer.ok({ type: 'abort_and_prompt', message: 'other' });
    const second = await nextQuestion(peer);
    answer(peer, first, 'allow_session');
    const { pendingUi } = await peer.ok({ type: 'get_state' });
    answer(peer, second, 'reject_once');
    await peer.next(({ type, outcome }) => type === 'agent_settled' && outcome === 'ok');

    expect(second.approval.subject).toMatchObject({ command: 'touch b' });
    expect(pendingUi.map(({ id }: { id: string }) => id)).toEqual([second.id]);
    for (const name of ['a', 'b']) expect(existsSync(join(home.cwd, name))).toBe(false);
  },
);

verifies('A129', 'a message that steers leaves the open question as it is', async ({ open }) => {
  const { peer, home } = await open({ args: ASK, script: [bash('touch a'), { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  const question = await nextQuestion(peer);

  await peer.ok({ type: 'steer', message: 'and this' });
  answer(peer, question, 'allow_once');
  const { outcome } = await peer.next('agent_settled');

  expect(outcome).toBe('ok');
  expect(existsSync(join(home.cwd, 'a'))).toBe(true);
});

it('[A130] the end of input with an open question denies the call, and the run ends', async () => {
  const { peer, home, process } = await openTestAgent('stdio', {
    args: ASK,
    script: [write('a.txt', 'a'), { text: 'done' }],
  });
  await peer.ok({ type: 'prompt', message: 'go' });
  const { id } = await nextQuestion(peer);

  process?.endInput();

  expect(await process?.exited).toMatchObject({ code: 0 });
  expect(await peer.next('extension_ui_resolved')).toMatchObject({ id, by: 'nobody' });
  expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'ok' });
  expect(existsSync(join(home.cwd, 'a.txt'))).toBe(false);
});

it('[A130] a question waits waitMs for the next client of a socket, and is denied without one', async () => {
  const agent = await openTestAgent('unix', {
    args: ASK,
    settings: { approvals: { waitMs: 1 } },
    script: [write('a.txt', 'a'), { text: 'done' }],
  });
  const { peer, home, socketPath = '' } = agent;
  await peer.ok({ type: 'prompt', message: 'go' });
  await nextQuestion(peer);
  peer.end();
  await peer.closed();

  const next = new Peer(await connectWhenListening(socketPath));
  await next.ok({ type: 'hello', ui: ['confirm'] });
  await next.ok({ type: 'wait_idle' });
  const { messages } = await next.ok({ type: 'get_messages' });
  const { entries } = await next.ok({ type: 'get_entries' });

  expect(messages.find(({ role }: { role: string }) => role === 'toolResult')).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('was not answered') }],
    details: { denied: true, by: 'nobody' },
  });
  // The user has not decided.
  expect(entries.filter(({ customType }: { customType?: string }) => customType === 'tau.approval')).toEqual([]);
  expect(existsSync(join(home.cwd, 'a.txt'))).toBe(false);
});

it('[A130] a call is denied at once if the only client shows no choices', async () => {
  const { peer, home } = await openTestAgent('stdio', { args: ASK, script: [write('a.txt', 'a'), { text: 'done' }] });
  await peer.ok({ type: 'hello', ui: ['confirm', 'notify'] });

  const records = await peer.run('go');

  expect(toolEnds(records)).toMatchObject([
    { isError: true, text: 'No user is there to allow this call; go on without it.', details: { denied: true } },
  ]);
  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  expect(allQuestions(peer)).toEqual([]);
  expect(existsSync(join(home.cwd, 'a.txt'))).toBe(false);
});

it('[A130] tau -p denies at once, exits with 0 and prints the number of denied calls', async () => {
  const home = newHome();
  const script = scriptArgs(home, [{ steps: [write('a.txt', 'a'), write('b.txt', 'b')] }, { text: 'Nothing done.' }]);

  const result = await runTau(home, ['-p', 'go', ...ASK, ...script], { input: '' });

  expect(result).toMatchObject({ code: 0, stdout: 'Nothing done.\n' });
  expect(result.stderr).toMatch(/2 tool calls were denied/);
  expect(existsSync(join(home.cwd, 'a.txt'))).toBe(false);
});

it('[A130] json mode denies at once and shows no question', async () => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'a.txt'), 'old');
  const script = scriptArgs(home, [write('a.txt', 'new'), { text: 'done' }]);

  const { code, stdout } = await runTau(home, ['--mode', 'json', 'go', ...ASK, ...script], { input: '' });

  const records = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(code).toBe(0);
  expect(toolEnds(records)).toMatchObject([{ isError: true, text: expect.stringContaining('No user is there') }]);
  expect(records.filter(({ type }) => type === 'extension_ui_request')).toEqual([]);
  expect(readFileSync(join(home.cwd, 'a.txt'), 'utf8')).toBe('old');
});

verifies('A133', 'heartbeats name the call that waits for an answer', async ({ open }) => {
  const { peer } = await open({
    args: ASK,
    script: [toolCallStep('bash', { command: 'true' }, 'call-9'), { text: 'done' }],
  });
  await peer.ok({ type: 'hello', heartbeatMs: 1 });
  const { runId } = await peer.ok({ type: 'prompt', message: 'go' });
  const question = await nextQuestion(peer);

  const beat = await peer.next(
    ({ type, blockedOn }) => type === 'heartbeat' && (blockedOn as { kind?: string } | null)?.kind === 'dialog',
  );
  answer(peer, question, 'allow_once');
  await peer.next('agent_settled');

  expect(beat).toEqual({
    type: 'heartbeat',
    runId,
    blockedOn: { kind: 'dialog', elapsedMs: expect.any(Number), toolCallId: 'call-9', toolName: 'bash' },
  });
});
