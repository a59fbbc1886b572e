import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openWithHooks, rolesOf } from '../../support/agent/hooked-agent.ts';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const done = { exitCode: 0, cancelled: false, truncated: false, fullOutputPath: null };

/** The output that the updates of this command carried, joined in order. */
const deltas = (records: readonly WireRecord[], id: unknown): string =>
  records
    .filter((record) => record.type === 'bash_execution_update' && JSON.stringify(record['id']) === JSON.stringify(id))
    .map(({ delta }) => delta)
    .join('');

const lastMessage = async (peer: Peer) => (await peer.ok({ type: 'get_messages' })).messages.at(-1);

verifies(
  'B1 B2 B3 B5 B6 B21',
  'bash runs a command, returns its result and stores it as a message',
  async (fixture) => {
    const { peer, sessionFiles } = await fixture.open();

    const result = await peer.ok({ type: 'bash', command: 'echo out; echo err >&2; pwd' });

    expect(result).toEqual({ output: expect.stringMatching(/^out\nerr\n.+\/project\n$/), ...done });
    const message = await lastMessage(peer);
    expect(message).toEqual({
      role: 'bashExecution',
      command: 'echo out; echo err >&2; pwd',
      ...result,
      timestamp: expect.any(Number),
    });
    expect(readSessionFile(sessionFiles()[0] ?? '').at(-1)).toMatchObject({ type: 'message', message });
    const events = peer.records.filter(({ type }) => type !== 'response').map(({ type }) => type);
    const shared = fixture.transport === 'websocket' ? ['state_changed'] : [];
    expect(new Set(events)).toEqual(new Set([...fixture.greeting, ...shared, 'bash_execution_update']));
  },
);

verifies('B21', 'runningBash in the state lists bash commands while they run', async ({ open }) => {
  const { peer, home } = await open();
  const gate = join(home.root, 'gate');
  const command = `until [ -e ${gate} ]; do sleep 0.05; done`;
  peer.send({ id: 1, type: 'bash', command });
  peer.send({ id: 2, type: 'bash', command: `${command}; true`, excludeFromContext: true });

  const { runningBash } = await peer.ok({ type: 'get_state' });
  writeFileSync(gate, '');
  for (const commandId of [1, 2]) await peer.find(({ id, success }) => id === commandId && success === true);

  expect(runningBash).toEqual([
    { command, excludeFromContext: false },
    { command: `${command}; true`, excludeFromContext: true },
  ]);
  expect((await peer.ok({ type: 'get_state' })).runningBash).toBeUndefined();
});

verifies('B2 B14', 'a failing shell command gets a success response with its exit code', async ({ open }) => {
  const { peer } = await open();

  expect(await peer.ok({ type: 'bash', command: 'echo no; exit 3' })).toEqual({ ...done, output: 'no\n', exitCode: 3 });
  expect(await peer.ok({ type: 'bash', command: 'no-such-program-at-all' })).toMatchObject({ exitCode: 127 });
  expect(await peer.ok({ type: 'bash', command: 'cat' }), 'there is no input').toEqual({ ...done, output: '' });
});

verifies('B4', 'a bash command killed from outside has no exit code and is not cancelled', async ({ open }) => {
  const { peer } = await open();

  const result = await peer.ok({ type: 'bash', command: 'echo so far; kill -9 $$' });

  expect(result).toEqual({ ...done, output: 'so far\n', exitCode: null });
  expect(await lastMessage(peer)).toMatchObject(result);
});

for (const id of ['a', 7, 0, '', null, false, { deep: [1] }]) {
  verifies(
    'B11',
    `bash output is sent before the response and carries the id ${JSON.stringify(id)}`,
    async ({ open }) => {
      const { peer } = await open();

      const response = await peer.request({ type: 'bash', id, command: 'echo one; sleep 0.15; echo two' });

      expect(response).toMatchObject({ id, success: true, data: { output: 'one\ntwo\n' } });
      expect(deltas(peer.records.slice(0, peer.records.indexOf(response)), id)).toBe('one\ntwo\n');
    },
    ['memory'],
  );
}

verifies('B11', 'updates of a bash command without an id carry none', async ({ open }) => {
  const { peer } = await open();

  peer.send({ type: 'bash', command: 'echo hi' });
  const update = await peer.find('bash_execution_update');
  const response = await peer.find('response');

  expect(update).toEqual({ type: 'bash_execution_update', delta: 'hi\n' });
  expect(response).not.toHaveProperty('id');
});

verifies('B11 C21', 'bash commands run concurrently, each with updates under its own id', async ({ open }) => {
  const { peer, home } = await open();
  const meet = (me: string, other: string) =>
    `touch ${me}; until [ -e ${other} ]; do sleep 0.05; done; echo ${me} met ${other}`;

  const [first, second] = await Promise.all([
    peer.ok({ type: 'bash', id: 'l', command: meet('left', 'right') }),
    peer.ok({ type: 'bash', id: 'r', command: meet('right', 'left') }),
  ]);

  expect(statSync(join(home.cwd, 'left')).isFile()).toBe(true);
  expect([first.output, second.output]).toEqual(['left met right\n', 'right met left\n']);
  expect([deltas(peer.records, 'l'), deltas(peer.records, 'r')]).toEqual([first.output, second.output]);
});

verifies('B13', 'bash output has no terminal control sequences, even when split between chunks', async ({ open }) => {
  const { peer } = await open();
  const pieces = [
    '\\033[1',
    ';31',
    'mred\\033',
    '[0m\\r',
    '\\n\\033]0;tit',
    'le\\a\\000\\010bell\\t',
    '\\357\\277\\271x\\033[',
  ];
  const command = pieces.map((piece) => `printf '${piece}'; sleep 0.12`).join('; ');

  const { output } = await peer.ok({ type: 'bash', id: 1, command });

  expect(output).toBe('red\nbell\tx[');
  expect(deltas(peer.records, 1)).toBe(output);
});

verifies('B13', 'the output of a result has the last state of overwritten lines', async ({ open }) => {
  const { peer } = await open();

  const { output } = await peer.ok({ type: 'bash', command: `printf '10%%\\r99%%\\rdone\\nlonger\\rx\\nnext\\r\\n'` });

  expect(output).toBe('done\nx\nnext\n');
});

verifies(
  'V55',
  'with carriageReturns the updates keep carriage returns, and nothing else changes',
  async ({ open }) => {
    const { peer } = await open();
    const command = "printf '\\033[1m10%%\\r50%%\\r\\n'";

    const plain = await peer.ok({ type: 'bash', id: 1, command });
    const kept = await peer.ok({ type: 'bash', id: 2, command, carriageReturns: true });

    expect(kept).toEqual(plain);
    expect(plain.output).toBe('50%\n');
    expect([deltas(peer.records, 1), deltas(peer.records, 2)]).toEqual(['10%50%\n', '10%\r50%\r\n']);
    const { messages } = await peer.ok({ type: 'get_messages' });
    expect(messages[1]).toEqual({ ...messages[0], timestamp: expect.any(Number) });
  },
);

verifies('B13', 'UTF-8 characters split between two updates arrive whole', async ({ open }) => {
  const { peer } = await open();
  const command = `printf '\\360\\237'; sleep 0.15; printf '\\230\\200'; sleep 0.15; printf '\\303'`;

  const { output } = await peer.ok({ type: 'bash', id: 1, command });

  expect(output).toBe('😀\uFFFD');
  expect(deltas(peer.records, 1)).toBe(output);
});

verifies('B3', 'bash responds with the last 2000 lines and stores the full output in a file', async ({ open }) => {
  const { peer } = await open();

  const result = await peer.ok({ type: 'bash', command: 'seq 1 3000' });

  expect(result).toMatchObject({ truncated: true, exitCode: 0 });
  expect(result.output.split('\n')).toEqual(Array.from({ length: 2000 }, (_, index) => `${index + 1001}`));
  const all = readFileSync(result.fullOutputPath, 'utf8');
  rmSync(result.fullOutputPath);
  expect(all).toBe(`${Array.from({ length: 3000 }, (_, index) => index + 1).join('\n')}\n`);
  expect(await lastMessage(peer)).toMatchObject(result);
});

verifies('B3', 'bash responds with the last 50 KiB of long lines', async ({ open }) => {
  const { peer } = await open();

  const result = await peer.ok({ type: 'bash', command: `printf 'x%.0s' $(seq 1 60000); echo; echo end` });

  expect(result.output).toBe('end');
  expect(statSync(result.fullOutputPath).size).toBe(60_005);
  rmSync(result.fullOutputPath);
});

verifies(
  'B12',
  'a command with excludeFromContext is stored with that mark and adds nothing to the context usage',
  async ({ open }) => {
    const { peer } = await open({ script: [{ steps: [{ text: 'ok' }, { usage: { input: 10, output: 5 } }] }] });
    await peer.run('hello');
    const before = await peer.ok({ type: 'get_session_stats' });

    await peer.ok({ type: 'bash', command: 'echo secret', excludeFromContext: true });
    const after = await peer.ok({ type: 'get_session_stats' });
    await peer.ok({ type: 'bash', command: 'echo open', excludeFromContext: false });

    const { messages } = await peer.ok({ type: 'get_messages' });
    expect(messages.slice(-2)).toMatchObject([{ output: 'secret\n', excludeFromContext: true }, { output: 'open\n' }]);
    expect(messages.at(-1)).not.toHaveProperty('excludeFromContext');
    expect(after.contextUsage).toEqual(before.contextUsage);
    expect((await peer.ok({ type: 'get_session_stats' })).contextUsage.tokens).toBeGreaterThan(
      before.contextUsage.tokens,
    );
  },
);

verifies(
  'B5 D14',
  'bash commands count as messages and not as tool calls, unlike the bash tool of the model',
  async ({ open }) => {
    const { peer } = await open({
      script: [{ toolCall: { name: 'bash', arguments: { command: 'echo model' } } }, { text: 'ok' }],
    });
    await peer.ok({ type: 'bash', command: 'true' });
    await peer.run('go');
    await peer.ok({ type: 'bash', command: 'true' });

    expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({
      userMessages: 1,
      assistantMessages: 2,
      toolCalls: 1,
      toolResults: 1,
      totalMessages: 6,
    });
    expect((await peer.ok({ type: 'get_state' })).messageCount).toBe(6);
    const { messages } = await peer.ok({ type: 'get_messages' });
    expect(rolesOf(messages)).toEqual([
      'bashExecution',
      'user',
      'assistant',
      'toolResult',
      'assistant',
      'bashExecution',
    ]);
  },
);

verifies('B5', 'a session that holds only a bash command is kept and can be reopened', async ({ open }) => {
  const first = await open();
  await first.peer.ok({ type: 'bash', command: 'echo kept' });
  const { sessionFile } = await first.peer.ok({ type: 'get_state' });
  await first.close();

  const { peer } = await open({ home: first.home, args: ['--session', sessionFile] });

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 1 });
  expect(await lastMessage(peer)).toMatchObject({ role: 'bashExecution', output: 'kept\n' });
});

const userMessage = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });

it('[B7 B8 B9 B12] bash commands reach the model with the next prompt, in the order they ended', async () => {
  const requests: unknown[][] = [];
  const { client } = await openWithHooks(
    {
      beforeRequest: async ({ messages }) => {
        requests.push(messages.map(({ role, content }) => ({ role, content })));
        return undefined;
      },
    },
    { answers: [{ text: 'one' }, { text: 'two' }] },
  );

  await client.bash({ command: 'printf a.txt' });
  await client.bash({ command: 'exit 2' });
  await client.bash({ command: 'echo secret', excludeFromContext: true });
  expect(requests).toEqual([]);
  await client.promptAndWait('first');
  await client.bash({ command: 'echo later' });
  await client.promptAndWait('second');

  const commands = [
    userMessage('Ran `printf a.txt`\n```\na.txt\n```'),
    userMessage('Ran `exit 2`\n(no output)\n\nCommand exited with code 2'),
  ];
  expect(requests[0]).toEqual([...commands, userMessage('first')]);
  expect(requests[1]?.slice(-2)).toEqual([userMessage('Ran `echo later`\n```\nlater\n\n```'), userMessage('second')]);
});

it('a userBash hook can return the result in place of the command, which then never runs', async () => {
  const received: unknown[] = [];
  const hookResult = {
    output: 'from elsewhere',
    exitCode: 0,
    cancelled: false,
    truncated: false,
    fullOutputPath: null,
  };
  const { client, home } = await openWithHooks({
    userBash: async (command) => {
      received.push(command);
      return command.command.startsWith('touch') ? hookResult : undefined;
    },
  });

  expect(await client.bash({ command: 'touch here', excludeFromContext: true })).toEqual(hookResult);
  expect(await client.bash({ command: 'ls' })).toMatchObject({ output: '' });

  expect(received[0]).toEqual({ command: 'touch here', cwd: home.cwd, excludeFromContext: true });
  const { messages } = await client.getMessages();
  expect(messages[0]).toMatchObject({ command: 'touch here', ...hookResult, excludeFromContext: true });
});

it('a userBash hook that rejects fails the command; one that never returns does not delay abort_bash', async () => {
  const { client } = await openWithHooks({
    userBash: ({ command }) => (command === 'fail' ? Promise.reject(new Error('no')) : new Promise(() => {})),
  });

  await expect(client.bash({ command: 'fail' })).rejects.toThrow('no');
  const pending = client.bash({ command: 'touch made' });
  await client.abortBash();

  expect(await pending).toMatchObject({ cancelled: true, exitCode: null, output: '' });
  expect((await client.getMessages()).messages).toMatchObject([{ command: 'touch made', cancelled: true }]);
});

verifies('B1', 'bash uses the settings of a project as soon as it is trusted', async ({ open }) => {
  const home = newHome();
  mkdirSync(join(home.cwd, '.pi'));
  writeFileSync(join(home.cwd, 'shell'), '#!/bin/sh\necho "my shell"\nshift\nexec /bin/sh -c "$@"\n');
  chmodSync(join(home.cwd, 'shell'), 0o700);
  const settings = { shellPath: join(home.cwd, 'shell'), shellCommandPrefix: 'echo prefix' };
  writeFileSync(join(home.cwd, '.pi', 'settings.json'), JSON.stringify(settings));
  const { peer } = await open({ home });

  const before = await peer.ok({ type: 'bash', command: 'echo hi' });
  await peer.ok({ type: 'set_trust', trusted: true });
  const after = await peer.ok({ type: 'bash', command: 'echo hi' });

  expect([before.output, after.output]).toEqual(['hi\n', 'my shell\nprefix\nhi\n']);
});

verifies('B20', 'a bash command that cannot be started is rejected and stores no message', async ({ open }) => {
  const home = newHome();
  mkdirSync(home.agentDir);
  writeFileSync(join(home.agentDir, 'settings.json'), JSON.stringify({ shellPath: '/no/such/shell' }));
  const { peer } = await open({ home });

  const noShell = await peer.refused({ type: 'bash', command: 'echo hi' });
  const tooLong = await peer.refused({ type: 'bash', command: `: ${'x'.repeat(200_000)}` });
  const withNull = await peer.refused({ type: 'bash', command: 'echo a\0b' });
  const empty = await peer.refused({ type: 'bash', command: '' });
  rmSync(home.cwd, { recursive: true });
  const noFolder = await peer.refused({ type: 'bash', command: 'echo hi' });

  expect(noShell['error']).toContain('/no/such/shell');
  expect(tooLong).toMatchObject({ code: 'internal' });
  expect([withNull['code'], empty['code']]).toEqual(['invalid_params', 'invalid_params']);
  expect(noFolder['error']).toContain('Working directory does not exist');
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 0 });
});

verifies('B22', 'bash.maxTimeoutSeconds ends a command, and its output gives the reason', async ({ open }) => {
  const { peer } = await open({ settings: { bash: { maxTimeoutSeconds: 0.5, defaultTimeoutSeconds: 0.1 } } });

  const result = await peer.ok({ type: 'bash', command: 'echo begun; sleep 1000' });

  const reason = 'Command timed out after 0.5 seconds (bash.maxTimeoutSeconds in settings.json)';
  expect(result).toMatchObject({ output: `begun\n\n\n${reason}`, exitCode: null, cancelled: false });
  expect(await lastMessage(peer)).toMatchObject({ role: 'bashExecution', output: result.output });
});
