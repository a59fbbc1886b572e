import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openWithHooks, neverReturns } from '../../support/agent/hooked-agent.ts';
import { newGate, newHome, startAgentProcess, readSessionFile } from '../../support/agent/test-agent.ts';
import { Peer, type WireRecord } from '../../support/clients/peer.ts';
import { filterAlive } from '../../support/processes/processes.ts';
import { SLEEP_FOREVER, hasBashOutput, waitForFileCommand } from '../../support/tools/shell-commands.ts';
import { shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { AGENT_SWITCHES_SESSION, type AgentFixture, verifies } from '../../support/verifies.ts';

const killed = { exitCode: null, cancelled: true, truncated: false, fullOutputPath: null };

const answerTo = (peer: Peer, id: unknown) => peer.find((record) => record.type === 'response' && record['id'] === id);

/** The processes that a command said it is made of. */
const pidsIn = ({ delta }: WireRecord): number[] => String(delta).trim().split(' ').map(Number);

/** Opens an agent in which a command runs that never ends. */
async function busy(open: AgentFixture['open'], options: Parameters<AgentFixture['open']>[0] = {}) {
  const agent = await open(options);
  agent.peer.send({ id: 'busy', type: 'bash', command: SLEEP_FOREVER });
  const pids = pidsIn(await agent.peer.find('bash_execution_update'));
  return { ...agent, pids };
}

const commandsIn = (path: string) =>
  readSessionFile(path).flatMap(({ message }) => (message?.role === 'bashExecution' ? [message] : []));

verifies('B4 B10 B16', 'abort_bash kills every command with its children, then answers', async ({ open }) => {
  const { peer, pids } = await busy(open);
  const stubborn = `trap '' TERM INT; (setsid sleep 1000 & echo $! $$); while :; do sleep 0.01; done`;
  peer.send({ id: 'stubborn', type: 'bash', command: stubborn });
  const more = pidsIn(await peer.find(({ id, type }) => id === 'stubborn' && type === 'bash_execution_update'));

  await peer.ok({ type: 'abort_bash', id: 'stop' });

  expect(await filterAlive([...pids, ...more])).toEqual([]);
  expect(await answerTo(peer, 'busy')).toMatchObject({ data: { ...killed, output: `${pids.join(' ')}\n` } });
  expect(await answerTo(peer, 'stubborn')).toMatchObject({ data: { ...killed, output: `${more.join(' ')}\n` } });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages).toHaveLength(2);
  for (const message of messages) expect(message).toMatchObject({ role: 'bashExecution', ...killed });
});

verifies('B16', 'the commands that abort_bash has killed are answered before it is', async ({ open }) => {
  const { peer } = await busy(open);

  peer.send('{"id":"s1","type":"abort_bash"}\n{"id":"s2","type":"abort_bash"}\n');
  await answerTo(peer, 's2');

  const answers = peer.records.filter(({ type }) => type === 'response').map(({ id }) => id);
  expect(answers).toEqual(['busy', 's1', 's2']);
});

verifies('B16', 'abort_bash succeeds when no command runs, and stops none that comes later', async ({ open }) => {
  const { peer } = await open();

  await peer.ok({ type: 'abort_bash' });
  await peer.ok({ type: 'bash', command: 'true' });
  await peer.ok({ type: 'abort_bash' });

  expect(await peer.ok({ type: 'bash', command: 'echo still here' })).toMatchObject({ output: 'still here\n' });
});

verifies('B10', 'a command that is stopped before it has begun never begins', async ({ open }) => {
  const { peer } = await open();

  peer.send('{"id":"b","type":"bash","command":"touch made"}\n{"id":"s","type":"abort_bash"}\n');
  await answerTo(peer, 's');

  expect(await answerTo(peer, 'b')).toMatchObject({ success: true, data: { ...killed, output: '' } });
  expect(await peer.ok({ type: 'bash', command: 'ls' })).toMatchObject({ output: '' });
});

verifies('B16', 'abort stops the run and no command; abort_bash stops the commands and no run', async ({ open }) => {
  const { peer, pids } = await busy(open, { script: [{ stall: true }, { stall: true }] });
  await peer.ok({ type: 'prompt', message: 'one' });

  await peer.ok({ type: 'abort' });
  expect(await filterAlive(pids)).toHaveLength(2);
  await peer.ok({ type: 'prompt', message: 'two' });
  await peer.ok({ type: 'abort_bash' });

  expect(await filterAlive(pids)).toEqual([]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true });
});

verifies('B10', 'abort_bash does not touch the tools of the model', async ({ open }) => {
  const gate = newGate();
  const call = { name: 'bash', arguments: { command: waitForFileCommand(gate.path) } };
  const { peer } = await open({ script: [{ toolCall: call }, { text: 'fine' }] });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.find((record) => record.type === 'tool_execution_update' && JSON.stringify(record).includes('begun'));

  await peer.ok({ type: 'abort_bash' });
  gate.open();
  await peer.next('agent_settled');

  expect(await peer.find('tool_execution_end')).toMatchObject({ isError: false });
});

verifies('B18', 'sixty-four commands run at once, and one more is refused', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open();
  for (let id = 0; id < 64; id++) peer.send({ id, type: 'bash', command: waitForFileCommand(gate.path) });
  for (let id = 0; id < 64; id++) await peer.find((record) => record['id'] === id && hasBashOutput('begun')(record));

  const refusal = await peer.refused({ type: 'bash', command: 'echo one more' });
  gate.open();

  expect(refusal).toMatchObject({ code: 'overloaded', error: expect.stringContaining('64') });
  for (let id = 0; id < 64; id++) expect(await answerTo(peer, id)).toMatchObject({ data: { output: 'begun\nover\n' } });
  expect(await peer.ok({ type: 'bash', command: 'echo again' })).toMatchObject({ output: 'again\n' });
  expect((await peer.ok({ type: 'get_state' })).messageCount).toBe(65);
});

const moves: Readonly<Record<string, (now: { stored: string; entryId: string }) => { type: string }>> = {
  new_session: () => ({ type: 'new_session' }),
  switch_session: (now) => ({ type: 'switch_session', sessionPath: now.stored }),
  fork: ({ entryId }) => ({ type: 'fork', entryId }),
  clone: () => ({ type: 'clone' }),
};

for (const [name, command] of Object.entries(moves)) {
  verifies(
    'B17',
    `${name} first stops the commands and keeps what they printed`,
    async ({ open }) => {
      const home = newHome();
      const other = storeSession(home, shortConversation(home.cwd));
      const { peer } = await open({ home, script: [{ text: 'one' }] });
      await peer.run('first');
      const { sessionFile } = await peer.ok({ type: 'get_state' });
      const [point] = (await peer.ok({ type: 'get_fork_messages' })).messages;
      peer.send({ id: 'busy', type: 'bash', command: SLEEP_FOREVER });
      const pids = pidsIn(await peer.find('bash_execution_update'));

      await peer.ok(command({ stored: other, entryId: point.entryId }));

      expect(await filterAlive(pids)).toEqual([]);
      expect(await answerTo(peer, 'busy')).toMatchObject({ data: killed });
      expect(commandsIn(sessionFile)).toMatchObject([{ ...killed, output: `${pids.join(' ')}\n` }]);
      const there = await peer.ok({ type: 'get_state' });
      expect(there.sessionFile).not.toBe(sessionFile);
      expect(commandsIn(there.sessionFile)).toHaveLength(name === 'clone' ? 1 : 0);
      expect(await peer.ok({ type: 'bash', command: 'echo here' })).toMatchObject({ output: 'here\n' });
      expect(commandsIn(there.sessionFile).at(-1)).toMatchObject({ output: 'here\n' });
    },
    AGENT_SWITCHES_SESSION,
  );
}

verifies('B17', 'a move that is only prepared, or refused, stops no command', async ({ open }) => {
  const { peer, pids, home } = await busy(open);

  await peer.ok({ type: 'new_session', detached: true });
  await peer.refused({ type: 'switch_session', sessionPath: join(home.cwd, 'nowhere.jsonl') });
  await peer.refused({ type: 'fork', entryId: 'nothing' });

  expect(await filterAlive(pids)).toHaveLength(2);
});

it('[B16 C21] commands and abort_bash wait for no other command', async () => {
  const { called, wait } = neverReturns();
  const { client } = await openWithHooks({ input: wait });
  const prompt = client.prompt({ message: 'go' }).catch((error: unknown) => error);
  await called;

  const events = client.events();
  const command = client.bash({ command: SLEEP_FOREVER });
  for await (const { type } of events) if (type === 'bash_execution_update') break;
  await client.abortBash();

  expect(await command).toMatchObject({ cancelled: true });
  await client.abort();
  expect(await prompt).toMatchObject({ code: 'agent_busy' });
});

it('[B17] a command that comes while the agent is on its way is stopped, too, and stored where it ran', async () => {
  let arrive = () => {};
  const leaving = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let leave = () => {};
  const gate = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const { client } = await openWithHooks(
    {
      sessionShutdown: ({ reason }) => {
        arrive();
        return reason === 'new' ? gate : Promise.resolve();
      },
    },
    { keep: true },
  );
  const { sessionFile = '' } = await client.getState();
  await client.bash({ command: 'echo before' });

  const moved = client.newSession();
  await leaving;
  const late = client.bash({ command: 'sleep 1000' });
  await client.getState();
  leave();
  await moved;

  expect(await late).toMatchObject({ cancelled: true });
  expect(commandsIn(sessionFile).map(({ command }) => command)).toEqual(['echo before', 'sleep 1000']);
  expect((await client.getMessages()).messages).toEqual([]);
});

it('[B17] the end of input waits for commands, and their answers are told', async () => {
  const { process, link } = startAgentProcess(newHome(), []);
  const gate = newGate();
  const peer = new Peer(link);
  peer.send({ id: 'slow', type: 'bash', command: waitForFileCommand(gate.path) });
  await peer.find(hasBashOutput('begun'));

  process.endInput();
  gate.open();

  expect(await answerTo(peer, 'slow')).toMatchObject({ data: { output: 'begun\nover\n' } });
  expect(await process.exited).toEqual({ code: 0, signal: null });
});

verifies(
  'B17',
  'a signal, or the end of input where that stops everything, stops commands and keeps what they printed',
  async ({ open }) => {
    for (const end of ['signal', 'eof'] as const) {
      const { peer, process, pids } = await busy(open, { args: ['--on-eof', 'abort'] });
      const { sessionFile } = await peer.ok({ type: 'get_state' });

      if (end === 'signal') process?.kill('SIGTERM');
      else process?.endInput();
      await process?.exited;

      expect(await filterAlive(pids)).toEqual([]);
      expect(await answerTo(peer, 'busy')).toMatchObject({ data: killed });
      expect(commandsIn(sessionFile)).toMatchObject([{ ...killed, output: `${pids.join(' ')}\n` }]);
    }
  },
  ['stdio'],
);

verifies(
  'B17',
  'closing an agent stops the commands and keeps what they printed',
  async ({ open }) => {
    const { peer, close, pids } = await busy(open);
    const { sessionFile } = await peer.ok({ type: 'get_state' });

    await close();

    expect(await filterAlive(pids)).toEqual([]);
    expect(commandsIn(sessionFile)).toMatchObject([{ ...killed, output: `${pids.join(' ')}\n` }]);
  },
  ['unix', 'memory'],
);
