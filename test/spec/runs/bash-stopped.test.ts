import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { neverReturns, openWithHooks } from '../../support/agent/hooked-agent.ts';
import { newGate, newHome, readSessionFile, startAgentProcess } from '../../support/agent/test-agent.ts';
import { Peer, type WireRecord } from '../../support/clients/peer.ts';
import { filterAlive } from '../../support/processes/processes.ts';
import { shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { hasBashOutput, SLEEP_FOREVER, waitForFileCommand } from '../../support/tools/shell-commands.ts';
import { AGENT_SWITCHES_SESSION, type AgentFixture, verifies } from '../../support/verifies.ts';

const killed = { exitCode: null, cancelled: true, truncated: false, fullOutputPath: null };

const responseTo = (peer: Peer, id: unknown) =>
  peer.find((record) => record.type === 'response' && record['id'] === id);

/** Reads the process ids that a command printed. */
const pidsIn = ({ delta }: WireRecord): number[] => String(delta).trim().split(' ').map(Number);

/** Opens an agent in which a bash command runs forever. */
async function openBusy(open: AgentFixture['open'], options: Parameters<AgentFixture['open']>[0] = {}) {
  const agent = await open(options);
  agent.peer.send({ id: 'busy', type: 'bash', command: SLEEP_FOREVER });
  const pids = pidsIn(await agent.peer.find('bash_execution_update'));
  return { ...agent, pids };
}

const commandsIn = (path: string) =>
  readSessionFile(path).flatMap(({ message }) => (message?.role === 'bashExecution' ? [message] : []));

verifies('B4 B10 B16', 'abort_bash kills every bash command with its children before it responds', async ({ open }) => {
  const { peer, pids } = await openBusy(open);
  const stubborn = `trap '' TERM INT; (setsid sleep 1000 & echo $! $$); while :; do sleep 0.05; done`;
  peer.send({ id: 'stubborn', type: 'bash', command: stubborn });
  const more = pidsIn(await peer.find(({ id, type }) => id === 'stubborn' && type === 'bash_execution_update'));

  await peer.ok({ type: 'abort_bash', id: 'stop' });

  expect(await filterAlive([...pids, ...more])).toEqual([]);
  expect(await responseTo(peer, 'busy')).toMatchObject({ data: { ...killed, output: `${pids.join(' ')}\n` } });
  expect(await responseTo(peer, 'stubborn')).toMatchObject({ data: { ...killed, output: `${more.join(' ')}\n` } });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages).toHaveLength(2);
  for (const message of messages) expect(message).toMatchObject({ role: 'bashExecution', ...killed });
});

verifies('B16', 'killed bash commands get their response before abort_bash does', async ({ open }) => {
  const { peer } = await openBusy(open);

  peer.send('{"id":"s1","type":"abort_bash"}\n{"id":"s2","type":"abort_bash"}\n');
  await responseTo(peer, 's2');

  const responseIds = peer.records.filter(({ type }) => type === 'response').map(({ id }) => id);
  expect(responseIds).toEqual(['busy', 's1', 's2']);
});

verifies('B16', 'abort_bash without a running command succeeds and affects no later command', async ({ open }) => {
  const { peer } = await open();

  await peer.ok({ type: 'abort_bash' });
  await peer.ok({ type: 'bash', command: 'true' });
  await peer.ok({ type: 'abort_bash' });

  expect(await peer.ok({ type: 'bash', command: 'echo still here' })).toMatchObject({ output: 'still here\n' });
});

verifies('B10', 'a bash command aborted before it starts never runs', async ({ open }) => {
  const { peer } = await open();

  peer.send('{"id":"b","type":"bash","command":"touch made"}\n{"id":"s","type":"abort_bash"}\n');
  await responseTo(peer, 's');

  expect(await responseTo(peer, 'b')).toMatchObject({ success: true, data: { ...killed, output: '' } });
  expect(await peer.ok({ type: 'bash', command: 'ls' })).toMatchObject({ output: '' });
});

verifies('B16', 'abort stops only the run; abort_bash stops only the bash commands', async ({ open }) => {
  const { peer, pids } = await openBusy(open, { script: [{ stall: true }, { stall: true }] });
  await peer.ok({ type: 'prompt', message: 'one' });

  await peer.ok({ type: 'abort' });
  expect(await filterAlive(pids)).toHaveLength(2);
  await peer.ok({ type: 'prompt', message: 'two' });
  await peer.ok({ type: 'abort_bash' });

  expect(await filterAlive(pids)).toEqual([]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true });
});

verifies('B10', 'abort_bash does not affect the bash tool of the model', async ({ open }) => {
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

verifies('B18', '64 bash commands run concurrently, and one more is rejected', async ({ open }) => {
  const home = newHome();
  const fifo = join(home.root, 'gate');
  execFileSync('mkfifo', [fifo]);
  // Commands that poll would need all of the machine.
  const gate = openSync(fifo, 'r+');
  const { peer } = await open({ home });
  const command = `exec 3<${fifo}; echo begun; cat <&3; echo over`;
  for (let id = 0; id < 64; id++) peer.send({ id, type: 'bash', command });
  for (let id = 0; id < 64; id++) await peer.find((record) => record['id'] === id && hasBashOutput('begun')(record));

  const refusal = await peer.refused({ type: 'bash', command: 'echo one more' });
  closeSync(gate);

  expect(refusal).toMatchObject({ code: 'overloaded', error: expect.stringContaining('64') });
  for (let id = 0; id < 64; id++)
    expect(await responseTo(peer, id)).toMatchObject({ data: { output: 'begun\nover\n' } });
  expect(await peer.ok({ type: 'bash', command: 'echo again' })).toMatchObject({ output: 'again\n' });
  expect((await peer.ok({ type: 'get_state' })).messageCount).toBe(65);
});

const sessionChanges: Readonly<Record<string, (now: { stored: string; entryId: string }) => { type: string }>> = {
  new_session: () => ({ type: 'new_session' }),
  switch_session: (now) => ({ type: 'switch_session', sessionPath: now.stored }),
  fork: ({ entryId }) => ({ type: 'fork', entryId }),
  clone: () => ({ type: 'clone' }),
};

for (const [name, command] of Object.entries(sessionChanges)) {
  verifies(
    'B17',
    `${name} stops the running bash commands first and keeps their output`,
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
      expect(await responseTo(peer, 'busy')).toMatchObject({ data: killed });
      expect(commandsIn(sessionFile)).toMatchObject([{ ...killed, output: `${pids.join(' ')}\n` }]);
      const after = await peer.ok({ type: 'get_state' });
      expect(after.sessionFile).not.toBe(sessionFile);
      expect(commandsIn(after.sessionFile)).toHaveLength(name === 'clone' ? 1 : 0);
      expect(await peer.ok({ type: 'bash', command: 'echo here' })).toMatchObject({ output: 'here\n' });
      expect(commandsIn(after.sessionFile).at(-1)).toMatchObject({ output: 'here\n' });
    },
    AGENT_SWITCHES_SESSION,
  );
}

verifies('B17', 'a detached or rejected session change stops no bash command', async ({ open }) => {
  const { peer, pids, home } = await openBusy(open);

  await peer.ok({ type: 'new_session', detached: true });
  await peer.refused({ type: 'switch_session', sessionPath: join(home.cwd, 'nowhere.jsonl') });
  await peer.refused({ type: 'fork', entryId: 'nothing' });

  expect(await filterAlive(pids)).toHaveLength(2);
});

it('[B16 C21 C22] bash and abort_bash do not wait for other commands', async () => {
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

it('[B17] a bash command sent during a session change is stopped and stored in the session where it ran', async () => {
  let onShutdown = () => {};
  const shutdownStarted = new Promise<void>((resolve) => {
    onShutdown = resolve;
  });
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { client } = await openWithHooks(
    {
      sessionShutdown: ({ reason }) => {
        onShutdown();
        return reason === 'new' ? gate : Promise.resolve();
      },
    },
    { keep: true },
  );
  const { sessionFile = '' } = await client.getState();
  await client.bash({ command: 'echo before' });

  const moved = client.newSession();
  await shutdownStarted;
  const late = client.bash({ command: 'sleep 1000' });
  await client.getState();
  release();
  await moved;

  expect(await late).toMatchObject({ cancelled: true });
  expect(commandsIn(sessionFile).map(({ command }) => command)).toEqual(['echo before', 'sleep 1000']);
  expect((await client.getMessages()).messages).toEqual([]);
});

it('[B17] end of input waits for running bash commands and sends their responses', async () => {
  const { process, link } = startAgentProcess(newHome(), []);
  const gate = newGate();
  const peer = new Peer(link);
  peer.send({ id: 'slow', type: 'bash', command: waitForFileCommand(gate.path) });
  await peer.find(hasBashOutput('begun'));

  process.endInput();
  gate.open();

  expect(await responseTo(peer, 'slow')).toMatchObject({ data: { output: 'begun\nover\n' } });
  expect(await process.exited).toEqual({ code: 0, signal: null });
});

verifies(
  'B17',
  'a signal, and end of input with --on-eof abort, stop bash commands and keep their output',
  async ({ open }) => {
    for (const end of ['signal', 'eof'] as const) {
      const { peer, process, pids } = await openBusy(open, { args: ['--on-eof', 'abort'] });
      const { sessionFile } = await peer.ok({ type: 'get_state' });

      if (end === 'signal') process?.kill('SIGTERM');
      else process?.endInput();
      await process?.exited;

      expect(await filterAlive(pids)).toEqual([]);
      expect(await responseTo(peer, 'busy')).toMatchObject({ data: killed });
      expect(commandsIn(sessionFile)).toMatchObject([{ ...killed, output: `${pids.join(' ')}\n` }]);
    }
  },
  ['stdio'],
);

verifies(
  'B17',
  'closing an agent stops bash commands and keeps their output',
  async ({ open }) => {
    const { peer, close, pids } = await openBusy(open);
    const { sessionFile } = await peer.ok({ type: 'get_state' });

    await close();

    expect(await filterAlive(pids)).toEqual([]);
    expect(commandsIn(sessionFile)).toMatchObject([{ ...killed, output: `${pids.join(' ')}\n` }]);
  },
  ['unix', 'memory'],
);
