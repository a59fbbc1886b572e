import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openWithHooks, rolesOf } from '../../support/agent/hooked-agent.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { entry, header, shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { hasBashOutput, waitForFileCommand } from '../../support/tools/shell-commands.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

/** Opens an agent whose run is inside a tool that waits for a gate. */
async function openDuringTool(open: AgentFixture['open'], options: Parameters<AgentFixture['open']>[0] = {}) {
  const gate = newGate();
  const call = { name: 'bash', id: 'call_1', arguments: { command: waitForFileCommand(gate.path, 'working') } };
  const agent = await open({ script: [{ toolCall: call }, { text: 'fine' }, { text: 'more' }], ...options });
  const { sessionFile } = await agent.peer.ok({ type: 'get_state' });
  await agent.peer.ok({ type: 'prompt', message: 'work', clientMessageId: 'c1' });
  await agent.peer.find(
    (record) => record.type === 'tool_execution_update' && JSON.stringify(record).includes('working'),
  );
  return { ...agent, gate, sessionFile: sessionFile as string };
}

const roles = async (peer: Peer) => rolesOf((await peer.ok({ type: 'get_messages' })).messages);

const storedRoles = (path: string) => readSessionFile(path).flatMap(({ message }) => (message ? [message.role] : []));

verifies('B15 B5 C21', 'a bash command that ends during a run joins the conversation after it', async ({ open }) => {
  const { peer, gate, sessionFile } = await openDuringTool(open);

  expect(await peer.ok({ type: 'bash', command: 'echo one' })).toMatchObject({ output: 'one\n' });
  await peer.ok({ type: 'bash', command: 'echo two' });
  expect(await roles(peer)).toEqual(['user', 'assistant']);
  expect((await peer.ok({ type: 'get_state' })).messageCount).toBe(2);
  gate.open();
  await waitUntilSettled(peer);

  const all = ['user', 'assistant', 'toolResult', 'assistant', 'bashExecution', 'bashExecution'];
  expect(await roles(peer)).toEqual(all);
  expect(storedRoles(sessionFile)).toEqual(all);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.slice(-2)).toMatchObject([{ command: 'echo one' }, { command: 'echo two' }]);
  expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ totalMessages: 6 });
});

verifies('B15', 'a bash command that ends after the run joins at once, without waiting for it', async ({ open }) => {
  const late = newGate();
  const { peer, gate } = await openDuringTool(open);
  peer.send({ id: 'late', type: 'bash', command: waitForFileCommand(late.path) });
  await peer.find(hasBashOutput('begun'));

  gate.open();
  await waitUntilSettled(peer);
  expect(await roles(peer)).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
  late.open();
  await peer.find((record) => record.type === 'response' && record['id'] === 'late');

  expect((await roles(peer)).at(-1)).toBe('bashExecution');
});

verifies('B15 B16', 'a bash command that ended during an aborted run joins the conversation', async ({ open }) => {
  const { peer, sessionFile } = await openDuringTool(open);
  await peer.ok({ type: 'bash', command: 'echo one' });

  await peer.ok({ type: 'abort' });

  expect(await roles(peer)).toEqual(['user', 'assistant', 'toolResult', 'bashExecution']);
  expect(storedRoles(sessionFile)).toEqual(['user', 'assistant', 'toolResult', 'bashExecution']);
});

verifies('B15', 'a queued message that prolongs the run delays the bash message to its end', async ({ open }) => {
  const { peer, gate } = await openDuringTool(open);
  await peer.ok({ type: 'bash', command: 'echo one' });
  await peer.ok({ type: 'follow_up', message: 'then' });

  gate.open();
  await waitUntilSettled(peer);

  expect(await roles(peer)).toEqual([
    ...['user', 'assistant', 'toolResult', 'assistant', 'user', 'assistant'],
    'bashExecution',
  ]);
});

verifies('B15 I8', 'entry_appended reports the bash message when it joins the conversation', async ({ open }) => {
  const { peer, gate, sessionFile } = await openDuringTool(open);
  await peer.ok({ type: 'hello', entries: true });

  await peer.ok({ type: 'bash', command: 'echo one' });
  gate.open();
  await peer.next('agent_settled');
  await peer.find(
    ({ type, entry: appended }) => type === 'entry_appended' && JSON.stringify(appended).includes('"queueId"'),
  );

  const appended = peer.records.flatMap(({ type, entry: line }) => (type === 'entry_appended' ? [line] : []));
  expect(appended).toEqual(readSessionFile(sessionFile));
});

for (const moment of ['during the run', 'after the run'] as const) {
  verifies(
    'B15 J18',
    `a session killed ${moment} reopens with the bash message once, behind all others`,
    async ({ open }) => {
      const { peer, gate, sessionFile, process, home } = await openDuringTool(open);
      await peer.ok({ type: 'bash', command: 'echo one' });
      if (moment === 'after the run') {
        gate.open();
        await peer.find('agent_settled');
        await peer.ok({ type: 'get_state' });
      }
      process?.kill('SIGKILL');
      await process?.exited;

      for (let times = 0; times < 2; times++) {
        const again = await open({ home, args: ['--session', sessionFile] });
        const now = await roles(again.peer);
        expect(now.filter((role) => role === 'bashExecution')).toHaveLength(1);
        expect(now.slice(0, 3)).toEqual(['user', 'assistant', 'toolResult']);
        expect(now.at(-1)).toBe('bashExecution');
        expect((await again.peer.ok({ type: 'get_state' })).messageCount).toBe(now.length);
        await again.close();
      }
    },
    ['stdio', 'unix'],
  );
}

verifies('B15 P43', 'a pending bash message does not keep a repeated prompt from its run', async ({ open }) => {
  const home = newHome();
  const message = bashMessage('echo one');
  const lines = [
    header(home.cwd, { id: 'crashed' }),
    entry('message', 'aaaaaaaa', null, {
      clientMessageId: 'c1',
      message: { role: 'user', content: 'first', timestamp: 1 },
    }),
    entry('custom', 'bbbbbbbb', 'aaaaaaaa', {
      customType: 'tau:bash',
      data: { sessionId: 'crashed', id: '11111111', message },
    }),
  ];
  const path = storeSession(home, lines);
  const { peer } = await open({ home, args: ['--session', path], script: [{ text: 'one' }] });

  const accepted = await peer.ok({ type: 'prompt', message: 'first', clientMessageId: 'c1' });
  await peer.next('agent_settled');

  expect(accepted).toMatchObject({ disposition: 'started', duplicate: true });
  expect(await roles(peer)).toEqual(['user', 'bashExecution', 'assistant']);
});

verifies('B15', 'switching to a session left by a crash sends each entry once', async ({ open }) => {
  const home = newHome();
  const data = { sessionId: 'stored-1', id: '11111111', message: bashMessage('echo one') };
  const path = storeSession(home, [
    ...shortConversation(home.cwd),
    entry('custom', 'cccccccc', 'bbbbbbbb', { customType: 'tau:bash', data }),
  ]);
  const { peer } = await open({ home });
  await peer.ok({ type: 'hello', entries: true });

  const start = peer.records.length;
  await peer.ok({ type: 'switch_session', sessionPath: path });
  await peer.ok({ type: 'get_state' });

  const appended = peer.records
    .slice(start)
    .flatMap((record) => (record.type === 'entry_appended' ? [record['entry']] : []));
  expect(appended).toEqual(readSessionFile(path));
  expect(await roles(peer)).toEqual(['user', 'assistant', 'bashExecution']);
});

verifies('B15', 'a copied session does not take over the pending bash messages of its source', async ({ open }) => {
  const home = newHome();
  const data = { sessionId: 'somebody else', id: '11111111', message: bashMessage('echo one') };
  const path = storeSession(home, [
    ...shortConversation(home.cwd),
    entry('custom', 'cccccccc', 'bbbbbbbb', { customType: 'tau:bash', data }),
  ]);
  const before = readFileSync(path, 'utf8');

  const { peer } = await open({ home, args: ['--session', path] });

  expect(await roles(peer)).toEqual(['user', 'assistant']);
  expect(readFileSync(path, 'utf8')).toBe(before);
});

it('[B7 B15] a bash command during a run reaches the model with the next run only', async () => {
  const gate = newGate();
  const requests: string[] = [];
  const { client } = await openWithHooks(
    {
      beforeRequest: async ({ messages }) => {
        requests.push(JSON.stringify(messages));
        return undefined;
      },
    },
    {
      answers: [
        { toolCall: { name: 'bash', arguments: { command: waitForFileCommand(gate.path) } } },
        { text: 'one' },
        { text: 'two' },
      ],
    },
  );
  const events = client.events();
  const run = client.promptAndWait('work');
  for await (const { type } of events) if (type === 'tool_execution_start') break;

  await client.bash({ command: 'echo aside' });
  gate.open();
  await run;
  await client.promptAndWait('next');

  expect(requests.map((request) => request.includes('Ran `echo aside`'))).toEqual([false, false, true]);
});

const bashMessage = (command: string) => ({
  role: 'bashExecution',
  command,
  output: 'one\n',
  exitCode: 0,
  cancelled: false,
  truncated: false,
  fullOutputPath: null,
  timestamp: 1,
});
