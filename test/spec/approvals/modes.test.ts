import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ApprovalMode } from '../../../src/protocol/generated/vocabulary.ts';
import {
  allQuestions,
  answer,
  approvalFlags,
  bashTurn,
  callOutcome,
  commandOutcomes,
  nextQuestion,
} from '../../support/agent/approvals.ts';
import { bash, callTool, homeWithCommands } from '../../support/agent/extensions.ts';
import { type Home, newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { entry, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { hostTool, sendToolResult, setHostTools, toolCallStep, toolEnds } from '../../support/tools/host-tools.ts';
import { AGENT_SWITCHES_SESSION, LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const write = (path: string, id?: string) => toolCallStep('write', { path, content: 'x' }, id);

const modeOf = async (peer: Peer) => (await peer.ok({ type: 'get_state' })).approvalMode;

/** The tools that one run used without a question. */
async function unquestioned(peer: Peer, ids: readonly string[]): Promise<string[]> {
  await peer.ok({ type: 'prompt', message: 'go' });
  const outcomes = await Promise.all(ids.map((id) => callOutcome(peer, id)));
  await peer.ok({ type: 'abort' });
  return ids.filter((_id, index) => outcomes[index] === 'ran');
}

const readers = [
  toolCallStep('read', { path: 'a.txt' }, 'read'),
  toolCallStep('ls', {}, 'ls'),
  toolCallStep('find', { pattern: '*.txt' }, 'find'),
  toolCallStep('grep', { pattern: 'hello' }, 'grep'),
  toolCallStep('todo', { ops: [{ op: 'add_phase', name: 'Work', tasks: [{ content: 'look' }] }] }, 'todo'),
];
const READERS = readers.map(({ toolCall: { id } }) => String(id));

for (const mode of ['plan', 'ask', 'edit', 'auto'] as const)
  verifies('A122', `in the mode ${mode} the tools that read and todo run without a question`, async ({ open }) => {
    const home = newHome();
    writeFileSync(join(home.cwd, 'a.txt'), 'hello\n');
    const { peer } = await open({
      home,
      args: [...approvalFlags(mode), '--tools', 'read,ls,find,grep,todo,bash,write'],
      script: [{ steps: readers }, { text: 'done' }],
    });

    await peer.run('go');

    expect(allQuestions(peer)).toEqual([]);
    expect(toolEnds(peer.records).map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual(
      expect.arrayContaining(READERS.map((id) => [id, false])),
    );
  });

const writers = [
  write('a.txt', 'write'),
  toolCallStep('edit', { path: 'b.txt', edits: [{ oldText: 'old', newText: 'new' }] }, 'edit'),
  toolCallStep('bash', { command: 'true' }, 'bash'),
];
const WRITERS = ['write', 'edit', 'bash'];

for (const [mode, expected] of [
  ['ask', []],
  ['edit', ['write', 'edit']],
  // Without a sandbox.
  ['auto', ['write', 'edit']],
  ['full', WRITERS],
] as const)
  verifies(
    'A122',
    `in the mode ${mode} ${expected.join(', ') || 'no change'} runs without a question`,
    async ({ open }) => {
      const home = newHome();
      writeFileSync(join(home.cwd, 'b.txt'), 'old\n');
      const { peer } = await open({ home, args: approvalFlags(mode), script: [{ steps: writers }, { text: 'done' }] });

      expect(await unquestioned(peer, WRITERS)).toEqual(expected);
      expect(existsSync(join(home.cwd, 'a.txt'))).toBe(expected.length > 0);
    },
  );

for (const mode of ['plan', 'auto'] as const)
  verifies(
    'A122',
    `in the mode ${mode} tools of the client run, and those of extensions are questioned`,
    async ({ open }) => {
      const { home } = homeWithCommands(
        {},
        `pi.registerTool({
        name: 'theirs', label: 'theirs', description: 'theirs', parameters: { type: 'object', properties: {} },
        execute: async () => ({ content: [{ type: 'text', text: 'theirs' }], details: {} }),
      });`,
      );
      const { peer } = await open({
        home,
        args: approvalFlags(mode),
        script: [callTool('mine', {}), callTool('theirs', {}), { text: 'done' }],
      });
      await setHostTools(peer, hostTool('mine'));
      await peer.ok({ type: 'prompt', message: 'go' });

      sendToolResult(peer, await peer.next('host_tool_call'), 'from the client');
      const { approval } = await nextQuestion(peer);
      await peer.ok({ type: 'abort' });

      expect(approval).toMatchObject({ toolName: 'theirs', source: 'extension', why: { mode } });
      expect(toolEnds(peer.records)[0]).toMatchObject({ isError: false, text: 'from the client' });
    },
  );

verifies('A122', 'a command that a client runs itself is not questioned', async ({ open }) => {
  const { peer } = await open({ args: approvalFlags('plan') });

  expect(await peer.ok({ type: 'bash', command: 'echo mine' })).toMatchObject({ output: 'mine\n', exitCode: 0 });
  expect(allQuestions(peer)).toEqual([]);
});

verifies('A122', 'a tool that calls other tools needs an approval for each of their calls', async ({ open }) => {
  const { home } = homeWithCommands(
    {},
    `pi.registerTool({
      name: 'outer', label: 'outer', description: 'outer', parameters: { type: 'object', properties: {} },
      execute: async (id, params, signal, onUpdate, ctx) => {
        const { isError } = await ctx.executeTool('bash', { command: 'touch made' });
        return { content: [{ type: 'text', text: isError ? 'inner failed' : 'inner ran' }], details: {} };
      },
    });`,
  );
  const { peer } = await open({ home, args: approvalFlags('ask'), script: [callTool('outer', {}), { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'go' });

  answer(peer, await nextQuestion(peer), 'allow_once');
  const inner = await nextQuestion(peer);
  answer(peer, inner, 'reject_once');
  await peer.next('agent_settled');

  expect(inner.approval).toMatchObject({ toolName: 'bash', subject: { command: 'touch made' } });
  expect(existsSync(join(home.cwd, 'made'))).toBe(false);
  expect(toolEnds(peer.records).at(-1)).toMatchObject({ text: 'inner failed' });
});

verifies(
  'A123',
  'in the mode plan write and edit fail with a text that names the mode, without a question',
  async ({ open }) => {
    const home = newHome();
    writeFileSync(join(home.cwd, 'b.txt'), 'old\n');
    const { peer } = await open({
      home,
      args: approvalFlags('plan'),
      settings: { approvals: { allow: ['write', 'edit', 'edit(**)'] } },
      script: [{ steps: writers.slice(0, 2) }, { text: 'done' }],
    });

    await peer.run('go');

    expect(allQuestions(peer)).toEqual([]);
    expect(toolEnds(peer.records)).toMatchObject([
      { isError: true, text: expect.stringContaining('plan mode') },
      { isError: true, text: expect.stringContaining('plan mode') },
    ]);
    expect(existsSync(join(home.cwd, 'a.txt'))).toBe(false);
    expect(readFileSync(join(home.cwd, 'b.txt'), 'utf8')).toBe('old\n');
  },
);

verifies(
  'A131',
  'a looser mode during a run closes the questions that it answers, and their calls run',
  async ({ open }) => {
    const { peer, home } = await open({
      settings: { approvals: { ask: ['bash(touch questioned)'] } },
      script: [
        { steps: [write('a.txt', 'w'), ...bashTurn('touch b.txt', 'touch questioned').steps] },
        { text: 'done' },
      ],
    });
    await peer.ok({ type: 'set_approval_mode', mode: 'ask', sandbox: 'off' });
    await peer.ok({ type: 'prompt', message: 'go' });
    const [file, line, ruled] = [
      await nextQuestion(peer, 'w'),
      await nextQuestion(peer, 'c0'),
      await nextQuestion(peer, 'c1'),
    ];

    const changed = await peer.ok({ type: 'set_approval_mode', mode: 'full' });
    for (const { id } of [file, line])
      expect(await peer.find((record) => record.type === 'extension_ui_resolved' && record['id'] === id)).toMatchObject(
        {
          by: 'agent',
        },
      );
    for (const id of ['w', 'c0'])
      await peer.find((record) => record.type === 'tool_execution_end' && record['toolCallId'] === id);
    const { pendingUi } = await peer.ok({ type: 'get_state' });
    answer(peer, ruled, 'reject_once');
    await peer.next('agent_settled');

    expect(changed).toEqual({ approvalMode: 'full', sandbox: { status: 'off' } });
    expect(pendingUi.map(({ id }: { id: string }) => id)).toEqual([ruled.id]);
    expect(['a.txt', 'b.txt', 'questioned'].filter((name) => existsSync(join(home.cwd, name)))).toEqual([
      'a.txt',
      'b.txt',
    ]);
  },
);

verifies(
  'A131',
  'the mode plan during a run denies the open question of a write, and holds for the next calls',
  async ({ open }) => {
    const { peer, home } = await open({
      args: approvalFlags('ask'),
      script: [{ steps: [write('a.txt', 'w')] }, { steps: [write('b.txt', 'w2')] }, { text: 'done' }],
    });
    await peer.ok({ type: 'prompt', message: 'go' });
    const question = await nextQuestion(peer);

    await peer.ok({ type: 'set_approval_mode', mode: 'plan' });
    answer(peer, question, 'allow_once');
    await peer.next('agent_settled');

    expect(allQuestions(peer)).toHaveLength(1);
    expect(toolEnds(peer.records).map(({ text }) => text)).toEqual([
      'Not allowed in plan mode.',
      'Not allowed in plan mode.',
    ]);
    for (const name of ['a.txt', 'b.txt']) expect(existsSync(join(home.cwd, name))).toBe(false);
  },
);

verifies(
  'A131',
  'a mode looser than the flag is refused, also with other settings, and the state lists the modes',
  async ({ open }) => {
    const { peer } = await open({ args: approvalFlags('edit'), settings: { approvals: { mode: 'full' } } });

    const state = await peer.ok({ type: 'get_state' });
    for (const mode of ['auto', 'full'])
      expect(await peer.refused({ type: 'set_approval_mode', mode })).toMatchObject({ code: 'permission_denied' });
    for (const mode of ['everything', '', null, 7, ['ask']])
      expect(await peer.refused({ type: 'set_approval_mode', mode })).toMatchObject({ code: 'invalid_params' });

    expect(state).toMatchObject({ approvalMode: 'edit', approvalModes: ['plan', 'ask', 'edit'] });
    expect(await modeOf(peer)).toBe('edit');
  },
);

verifies('A131', 'the setting is a ceiling as the flag is, and the stricter of both counts', async ({ open }) => {
  const { peer } = await open({
    args: ['--approvals', 'auto', '--sandbox', 'off'],
    settings: { approvals: { mode: 'ask' } },
  });

  expect(await peer.refused({ type: 'set_approval_mode', mode: 'edit' })).toMatchObject({ code: 'permission_denied' });
  expect(await modeOf(peer)).toBe('ask');
});

verifies('A131', 'clients get the new mode as a change of the state', async ({ open }) => {
  const { peer } = await open({ args: ['--sandbox', 'off'] });

  await peer.ok({ type: 'set_approval_mode', mode: 'ask' });

  expect(await peer.find('state_changed')).toMatchObject({ state: { approvalMode: 'ask' } });
});

const echo = { ...bash('echo one'), when: '.', keep: true };

/** Whether bash is questioned in a run of the current session. */
async function isBashQuestioned(peer: Peer): Promise<boolean> {
  await peer.ok({ type: 'prompt', message: 'go', limits: { turns: 1 } });
  const record = await peer.next(({ type }) => type === 'extension_ui_request' || type === 'tool_execution_end');
  await peer.ok({ type: 'abort' });
  await peer.next('agent_settled');
  return record.type === 'extension_ui_request';
}

verifies('A131', 'a new session, a clone and a fork have the mode of the session before', async ({ open }) => {
  const { peer } = await open({ args: ['--sandbox', 'off'], script: [echo] });
  await peer.ok({ type: 'set_approval_mode', mode: 'ask' });
  expect(await isBashQuestioned(peer)).toBe(true);

  const modes = [];
  for (const command of ['clone', 'fork', 'new_session']) {
    const [message] = (await peer.ok({ type: 'get_fork_messages' })).messages;
    await peer.ok({ type: command, ...(command === 'fork' ? { entryId: message.entryId } : {}) });
    modes.push(await modeOf(peer));
    expect(await isBashQuestioned(peer)).toBe(true);
  }

  expect(modes).toEqual(['ask', 'ask', 'ask']);
});

verifies(
  'A131',
  'the mode is stored in the session: it holds when another process opens it, below its flags',
  async ({ open }) => {
    const home = newHome();
    const first = await open({ home, args: ['--sandbox', 'off'], script: [echo] });
    await first.peer.ok({ type: 'set_approval_mode', mode: 'edit' });
    expect(await isBashQuestioned(first.peer)).toBe(true);
    const { sessionFile } = await first.peer.ok({ type: 'get_state' });
    await first.close();

    const modes = [];
    for (const flags of [[], ['--approvals', 'full'], ['--approvals', 'plan']]) {
      const { peer, close } = await open({ home, args: ['--sandbox', 'off', ...flags, '--session', sessionFile] });
      modes.push(await modeOf(peer));
      await close();
    }
    const { peer } = await open({ home, args: ['--sandbox', 'off'] });

    expect(modes).toEqual(['edit', 'edit', 'plan']);
    expect(await modeOf(peer)).toBe('full');
  },
  LOCAL_TRANSPORTS,
);

verifies(
  'A131',
  'a session that is opened again has its own mode, whatever the session before has',
  async ({ open }) => {
    const { peer } = await open({ args: ['--sandbox', 'off'], script: [echo] });
    await peer.ok({ type: 'set_approval_mode', mode: 'ask' });
    expect(await isBashQuestioned(peer)).toBe(true);
    const { sessionFile } = await peer.ok({ type: 'get_state' });
    await peer.ok({ type: 'new_session' });
    await peer.ok({ type: 'set_approval_mode', mode: 'full' });
    expect(await isBashQuestioned(peer)).toBe(false);

    await peer.ok({ type: 'switch_session', sessionPath: sessionFile });

    expect(await modeOf(peer)).toBe('ask');
    expect(await isBashQuestioned(peer)).toBe(true);
  },
  AGENT_SWITCHES_SESSION,
);

/** A session file with entries that claim approvals. */
function sessionWith(home: Home, ...data: readonly (readonly [customType: string, data: unknown])[]): string {
  const entries = data.map(([customType, value], index) =>
    entry('custom', `cccccc0${index}`, index === 0 ? 'bbbbbbbb' : `cccccc0${index - 1}`, { customType, data: value }),
  );
  return storeSession(home, [...shortConversation(home.cwd), ...entries]);
}

verifies(
  'A132',
  'entries with answers and rules of a session file allow nothing',
  async ({ open }) => {
    const home = newHome();
    const sessionFile = sessionWith(
      home,
      ['tau.approval', { toolCallId: 'x', toolName: 'bash', option: 'allow_always', rule: 'bash(echo one)' }],
      ['tau.approval', { toolCallId: 'y', toolName: 'bash', option: 'allow_session', rule: 'bash' }],
      ['tau.approvals', { mode: 'full', sandbox: 'external', allow: ['bash'], rules: ['bash'] }],
    );

    for (const mode of ['ask', 'auto'] as const) {
      const { peer, close } = await open({
        home,
        args: [...approvalFlags(mode), '--session', sessionFile],
        script: [bashTurn('echo one'), { text: 'done' }],
      });
      const state = await peer.ok({ type: 'get_state' });
      expect(await commandOutcomes(peer, ['echo one'])).toEqual({ 'echo one': 'questioned' });
      expect(state).toMatchObject({ approvalMode: mode, sandbox: { status: 'off' } });
      expect((await peer.ok({ type: 'get_approvals' })).approvals).toEqual([]);
      await close();
    }
  },
  LOCAL_TRANSPORTS,
);

it('[A132] a session file cannot declare that the machine is a sandbox, and malformed choices count as none', async () => {
  const choices: readonly unknown[] = [
    { mode: 'auto', sandbox: 'external' },
    { mode: 'root', sandbox: 7 },
    ['full'],
    'full',
    null,
    { mode: { toString: 'full' } },
  ];
  for (const choice of choices) {
    const home = newHome();
    const sessionFile = sessionWith(home, ['tau.approvals', choice]);
    const { peer, close } = await openTestAgent('memory', {
      home,
      args: ['--approvals', 'auto', '--sandbox', 'off', '--session', sessionFile],
      script: [bashTurn('echo one'), { text: 'done' }],
    });
    expect(await commandOutcomes(peer, ['echo one']), JSON.stringify(choice)).toEqual({ 'echo one': 'questioned' });
    expect((await peer.ok({ type: 'get_state' })).sandbox).toEqual({ status: 'off' });
    await close();
  }
});

verifies(
  'A132',
  'a session with a looser choice allows no more than the flags when an agent switches to it',
  async ({ open }) => {
    const home = newHome();
    const sessionFile = sessionWith(home, ['tau.approvals', { mode: 'full' satisfies ApprovalMode }]);
    const { peer } = await open({ home, args: approvalFlags('ask'), script: [echo] });

    await peer.ok({ type: 'switch_session', sessionPath: sessionFile });

    expect(await modeOf(peer)).toBe('ask');
    expect(await isBashQuestioned(peer)).toBe(true);
  },
  AGENT_SWITCHES_SESSION,
);
