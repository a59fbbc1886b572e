import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.ts';
import { toLine } from '../../../src/wire/json-lines.ts';
import { memoryPair } from '../../../src/wire/memory.ts';
import { bash, userExtension } from '../../support/agent/extensions.ts';
import {
  newHome,
  openTestAgent,
  readSessionFile,
  sessionFiles,
  TAU,
  type TestAgent,
} from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { filterAlive, isAlive, killAll, waitUntil } from '../../support/processes/processes.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';
import { verifies } from '../../support/verifies.ts';

const onStdio = ['stdio'] as const;
const onProcesses = ['stdio', 'unix'] as const;

// Leaves processes in several ways and prints their pids.
const BUSY = 'sleep 1000 & echo $!; setsid sleep 1000 & echo $!; echo $$; echo started';
const BUSY_FOREVER = `${BUSY}; sleep 1000`;
const busyScript = [{ toolCall: { name: 'bash', arguments: { command: BUSY_FOREVER } } }];

it('[Z28] accepted work finishes after the end of input', async () => {
  const home = newHome();
  const input = lines([
    { id: 1, type: 'prompt', message: 'list the files' },
    { id: 2, type: 'follow_up', message: 'run `sleep 0.3; echo finished > proof.txt`' },
    { id: 3, type: 'wait_idle' },
  ]);

  const { code, stdout, stderr } = await runTau(home, ['--mode', 'rpc'], { input });

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(readFileSync(join(home.cwd, 'proof.txt'), 'utf8')).toBe('finished\n');
  const records = parsed(stdout);
  expect(records.filter(({ type }) => type === 'response').map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(records.filter(({ type }) => type === 'agent_settled')).toMatchObject([{ outcome: 'ok' }]);
});

it('[Z28] an end of input without any command exits with 0', async () => {
  const home = newHome();

  const { code, stdout, stderr } = await runTau(home, ['--mode', 'rpc'], { input: '' });

  expect({ code, stderr, types: parsed(stdout).map(({ type }) => type) }).toEqual({
    code: 0,
    stderr: '',
    types: ['ready'],
  });
});

verifies(
  'Z29 V51',
  'with --on-eof abort the end of input interrupts the run and its tools',
  async ({ open }) => {
    const agent = await open({ script: busyScript, args: ['--on-eof', 'abort'] });
    const pids = await runBusyTool(agent);

    agent.process?.endInput();

    expect(await agent.process?.exited).toEqual({ code: 0, signal: null });
    expect(await agent.peer.find('agent_settled')).toMatchObject({ outcome: 'aborted' });
    expect(await filterAlive(pids)).toEqual([]);
    expect(lastStored(agent)).toMatchObject({ role: 'toolResult', isError: true, details: { interrupted: true } });
  },
  onStdio,
);

verifies(
  'Z29 V51',
  'with --on-eof abort the partial model response is stored as interrupted',
  async ({ open }) => {
    const agent = await open({
      script: [{ steps: [{ text: 'Once upon' }, { stall: true }] }],
      args: ['--on-eof=abort'],
    });
    agent.peer.send({ type: 'prompt', message: 'tell' });
    await agent.peer.next(hasText('Once upon'));

    agent.process?.endInput();

    expect(await agent.process?.exited).toEqual({ code: 0, signal: null });
    const partial = { stopReason: 'aborted', errorCode: 'interrupted', content: [{ text: 'Once upon' }] };
    expect(lastStored(agent)).toMatchObject(partial);
  },
  onStdio,
);

it('[Z30] a reader that closes the pipe ends the run silently', async () => {
  const home = newHome();
  // A word every 25 ms: the answer is never complete when the reader closes.
  const shell = `{ "$0" "$1" --mode rpc --model tau/scripted-slow; echo $? > code; } | head -n 20 > /dev/null; cat code`;

  const agent = startProgram(home, ['sh', '-c', shell, process.execPath, TAU]);
  agent.send({ type: 'prompt', message: 'count to 100000' });

  expect(await agent.finished).toEqual({ code: 0, signal: null, stdout: '0\n', stderr: '' });
  const [path = ''] = sessionFiles(home);
  const messages = readSessionFile(path).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []));
  expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant', stopReason: 'aborted' }]);
});

it('[Z30] a reader that closes the pipe while a tool runs ends the tool', async () => {
  const home = newHome();
  const agent = startProgram(home, [process.execPath, TAU, '--mode', 'rpc']);
  agent.send({ type: 'prompt', message: `run \`${BUSY}; while sleep 0.05; do echo tick; done\`` });
  await agent.waitForOutput('\\ntick');

  agent.child.stdout?.destroy();

  expect(await agent.finished).toMatchObject({ code: 0, signal: null, stderr: '' });
  const [path = ''] = sessionFiles(home);
  expect(readSessionFile(path).at(-1)).toMatchObject({ message: { role: 'toolResult', isError: true } });
});

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const) {
  verifies(
    'Z32 Z33',
    `${signal} during a tool exits with ${code} after all work has stopped and is stored`,
    async ({ open }) => {
      const agent = await open({ script: busyScript });
      const pids = await runBusyTool(agent);

      agent.process?.kill(signal);

      expect(await agent.process?.exited).toEqual({ code, signal: null });
      expect(await filterAlive(pids)).toEqual([]);
      expect(await agent.peer.find('agent_settled')).toMatchObject({ outcome: 'aborted' });
      expect(lastStored(agent)).toMatchObject({ role: 'toolResult', isError: true });
      expect(agent.process?.stderr()).toBe('');
    },
    onProcesses,
  );

  verifies(
    'Z32',
    `${signal} while idle exits with ${code}`,
    async ({ open }) => {
      const { peer, process } = await open();
      await peer.greeted();

      process?.kill(signal);

      expect(await process?.exited).toEqual({ code, signal: null });
    },
    onProcesses,
  );
}

verifies(
  'Z32 Z33',
  'a signal during a model response stores the text so far',
  async ({ open }) => {
    const agent = await open({ script: [{ steps: [{ text: 'Once upon' }, { stall: true }] }] });
    agent.peer.send({ type: 'prompt', message: 'tell' });
    await agent.peer.next(hasText('Once upon'));

    agent.process?.kill('SIGTERM');

    expect(await agent.process?.exited).toEqual({ code: 143, signal: null });
    const partial = { stopReason: 'aborted', errorCode: 'interrupted', content: [{ text: 'Once upon' }] };
    expect(lastStored(agent)).toMatchObject(partial);
  },
  onProcesses,
);

verifies(
  'Z32',
  'a client that does not read cannot keep the process from exiting',
  async ({ open }) => {
    const agent = await open({ script: [{ text: 'x'.repeat(1000), times: 100_000 }] });
    await agent.peer.ok({ type: 'prompt', message: 'flood' });
    agent.peer.link.pause();
    const { pid = 0, kill, exited } = agent.process ?? {};

    kill?.('SIGTERM');
    await waitUntil(async () => !(await isAlive(pid)));
    agent.peer.link.resume();

    expect(await exited).toEqual({ code: 143, signal: null });
    expect(lastStored(agent)).toMatchObject({ stopReason: 'aborted' });
  },
  onProcesses,
);

verifies(
  'Z28 Z33',
  'background processes of a finished tool end with the agent',
  async ({ open, transport }) => {
    const agent = await open({
      script: [{ toolCall: { name: 'bash', arguments: { command: BUSY } } }, { text: 'Done' }],
    });
    await agent.peer.run('work');
    const end = await agent.peer.find('tool_execution_end');
    const pids = pidsIn(JSON.stringify(end['result'])).slice(0, 2);
    expect(await filterAlive(pids)).toHaveLength(2);

    await agent.close();

    expect(await agent.process?.exited).toEqual({ code: transport === 'stdio' ? 0 : 143, signal: null });
    expect(await filterAlive(pids)).toEqual([]);
  },
  onProcesses,
);

verifies(
  'Z33 Z35',
  'a second signal ends the process and all its children at once',
  async ({ open }) => {
    const agent = await open({ script: busyScript });
    const pids = await runBusyTool(agent);

    // Both signals are delivered while the process is stopped, so that neither comes too late.
    for (const signal of ['SIGSTOP', 'SIGINT', 'SIGTERM', 'SIGCONT'] as const) agent.process?.kill(signal);

    expect(await agent.process?.exited).toEqual({ code: expect.toBeOneOf([130, 143]), signal: null });
    expect(lastStored(agent)).toMatchObject({ role: 'assistant', stopReason: 'toolUse' });
    await waitUntil(async () => (await filterAlive(pids)).length === 0);
  },
  onProcesses,
);

it('[Z34] an agent whose parent was killed exits even if another process holds its input open', async () => {
  const home = newHome();
  const shell = 'exec 3<&0; "$0" "$1" --mode rpc <&3 3<&- & echo "pid $!" >&2; exec 3<&-; wait';
  const parent = startProgram(home, ['sh', '-c', shell, process.execPath, TAU]);
  parent.send({ type: 'prompt', message: `run \`${BUSY_FOREVER}\`` });
  await parent.waitForOutput('\\nstarted');
  const pids = [...pidsIn(parent.stderr()), ...pidsIn(progressIn(parsed(parent.stdout())))];
  onTestFinished(() => killAll(pids));
  expect(await filterAlive(pids)).toHaveLength(4);

  parent.child.kill('SIGKILL');

  await waitUntil(async () => (await filterAlive(pids)).length === 0);
  const [path = ''] = sessionFiles(home);
  expect(readSessionFile(path).at(-1)).toMatchObject({ message: { role: 'toolResult', isError: true } });
});

verifies(
  'Z35',
  'no child outlives an agent that was killed',
  async ({ open }) => {
    const agent = await open({ script: busyScript });
    const pids = await runBusyTool(agent);

    agent.process?.kill('SIGKILL');

    expect(await agent.process?.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await waitUntil(async () => (await filterAlive(pids)).length === 0, 5000);
  },
  onProcesses,
);

it('[Z35] a child with a cleared environment does not outlive a killed agent while its shell lives', async () => {
  const command = 'env -i sleep 1000 & echo "pid $!"; echo started; wait';
  const agent = await openTestAgent('stdio', { script: [{ toolCall: { name: 'bash', arguments: { command } } }] });
  await agent.peer.ok({ type: 'prompt', message: 'work' });
  const pids = pidsIn(progressIn([await agent.peer.next((record) => progressIn([record]).includes('started'))]));
  onTestFinished(() => killAll(pids));
  expect(await filterAlive(pids)).toHaveLength(1);

  agent.process?.kill('SIGKILL');

  await agent.process?.exited;
  await waitUntil(async () => (await filterAlive(pids)).length === 0);
});

it('[U30] no child outlives an agent that was killed after its guardian was killed', async () => {
  const agent = await openTestAgent('stdio', { script: busyScript });
  const pids = await runBusyTool(agent);
  const { pid = 0 } = agent.process ?? {};
  const [guardian = 0] = guardiansOf(pid);
  expect(guardian).toBeGreaterThan(0);

  process.kill(guardian, 'SIGKILL');
  await waitUntil(async () => guardiansOf(pid).some((other) => other !== guardian));
  agent.process?.kill('SIGKILL');

  await waitUntil(async () => (await filterAlive(pids)).length === 0);
});

/** The live guardians that this process has started. */
function guardiansOf(parent: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  return pids.filter((pid) => {
    try {
      const [state, ppid] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      const isGuardian = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0tau-guardian\0');
      return isGuardian && state !== 'Z' && Number(ppid) === parent;
    } catch {
      return false;
    }
  });
}

/** Starts the busy tool and returns the pids of its processes, all alive. */
async function runBusyTool({ peer }: TestAgent): Promise<number[]> {
  await peer.ok({ type: 'prompt', message: 'work' });
  const update = await peer.next((record) => progressIn([record]).includes('started'));
  const pids = pidsIn(progressIn([update]));
  onTestFinished(() => killAll(pids));
  expect(await filterAlive(pids)).toHaveLength(3);
  return pids;
}

/** The tool output in the last update. */
function progressIn(records: readonly WireRecord[]): string {
  const update = records.findLast(({ type }) => type === 'tool_execution_update');
  const { content = [] } = (update?.['partialResult'] ?? {}) as { content?: { text: string }[] };
  return content.map(({ text }) => text).join('');
}

const pidsIn = (text: string): number[] => (text.match(/\d+/g) ?? []).map(Number);

const hasText = (text: string) => (record: WireRecord) =>
  record.type === 'message_update' && JSON.stringify(record['message']).includes(text);

const lines = (commands: readonly object[]) => commands.map((command) => `${JSON.stringify(command)}\n`).join('');

const parsed = (stdout: string): WireRecord[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

function lastStored(agent: TestAgent) {
  const [path = ''] = agent.sessionFiles();
  return readSessionFile(path).findLast((entry) => entry.type === 'message')?.message;
}

const FATAL = { NODE_OPTIONS: `--require ${join(import.meta.dirname, '../../fixtures/fatal-on-signal.cjs')}` };
const failFatally = { toolCall: { name: 'bash', arguments: { command: 'kill -USR2 $PPID; sleep 1000' } } };

it('[Z77] a fatal error stores everything and ends stdout with agent_exiting and the process with code 1', async () => {
  const { peer, process, sessionFiles } = await openTestAgent('stdio', { script: [failFatally], env: FATAL });
  const waiting = peer.request({ type: 'wait_idle', id: 'w' }).catch(() => undefined);

  await peer.ok({ type: 'prompt', message: 'go', clientMessageId: 'm1' });
  await peer.closed();
  const exit = await process?.exited;

  expect(exit).toEqual({ code: 1, signal: null });
  expect(peer.records.at(-1)).toEqual({ type: 'agent_exiting', code: 1, reason: 'the agent is broken' });
  expect(peer.records.filter(({ type }) => type === 'agent_settled')).toHaveLength(1);
  expect(process?.stderr()).toContain('the agent is broken');
  const entries = readSessionFile(sessionFiles()[0] ?? '');
  expect(entries.map(({ message }) => message?.role).filter(Boolean)).toEqual(['user', 'assistant', 'toolResult']);
  await waiting;
});

it('[Z77] a client of a socket gets agent_exiting as the last record', async () => {
  const { peer, process } = await openTestAgent('unix', { script: [failFatally], env: FATAL });

  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.closed();

  expect(await process?.exited).toEqual({ code: 1, signal: null });
  expect(peer.records.at(-1)).toEqual({ type: 'agent_exiting', code: 1, reason: 'the agent is broken' });
});

it('[Z78] the client library rejects pending calls with the reason of agent_exiting', async () => {
  const { client, link } = newClientOnLink();
  const pending = client.getState();

  link.write(toLine({ type: 'agent_exiting', code: 1, reason: 'the agent is broken' }));
  link.close();

  await expect(pending).rejects.toThrow('the agent is broken');
  await expect(client.ping()).rejects.toThrow('the agent is broken');
});

it('[Z78] calls that wait behind a server are answered or fail when their agent ends by a fatal error', async () => {
  const { peer } = await openTestAgent('websocket', { script: [failFatally, { text: 'fine' }], env: FATAL });
  const waiting = peer.request({ type: 'wait_idle' });

  await peer.ok({ type: 'prompt', message: 'go' });

  expect(await peer.next('server_error')).toMatchObject({
    error: 'Pi process terminated (exit code 1): the agent is broken',
  });
  expect(await waiting).toMatchObject({ type: 'response', command: 'wait_idle' });
  await expect.poll(async () => (await peer.ok({ type: 'get_state' })).isIdle).toBe(true);
  expect(peer.records.filter(({ type }) => type === 'agent_settled')).toHaveLength(1);
});

verifies(
  'Z100',
  'process.exit in a handler of an extension stores everything and ends the stream with agent_exiting',
  async ({ open }) => {
    const home = newHome();
    userExtension(home, 'exit.ts', "export default (pi) => pi.on('tool_call', () => process.exit(3));");
    const agent = await open({ home, script: [bash('echo never')] });
    const waiting = agent.peer.request({ type: 'wait_idle' });

    await agent.peer.ok({ type: 'prompt', message: 'go' });

    expect(await waiting).toMatchObject({ type: 'response', command: 'wait_idle' });
    expect(await agent.process?.exited).toEqual({ code: 3, signal: null });
    await agent.peer.closed();
    const reason = 'process.exit(3) was called';
    expect(agent.peer.records.at(-1)).toEqual({ type: 'agent_exiting', code: 3, reason });
    expect(agent.peer.records.filter(({ type }) => type === 'agent_settled')).toHaveLength(1);
    expect(agent.peer.records).not.toContainEqual(expect.objectContaining({ type: 'extension_error' }));
    expect(lastStored(agent)).toMatchObject({ role: 'toolResult', isError: true });
  },
  onProcesses,
);

it.each([
  ['in a handler', "pi.on('agent_start', () => process.exit(4))"],
  ['in a timer', "pi.on('agent_start', () => void setTimeout(() => process.exit(4), 1))"],
])('[Z100] process.exit of an extension %s is not reported as its failure', async (_, code) => {
  const home = newHome();
  userExtension(home, 'exit.ts', `export default (pi) => { ${code}; };`);
  const { peer, process: agent } = await openTestAgent('stdio', { home, script: [bash('sleep 1000')] });

  await peer.ok({ type: 'prompt', message: 'go' });

  expect(await agent?.exited).toEqual({ code: 4, signal: null });
  await peer.closed();
  expect(peer.records).not.toContainEqual(expect.objectContaining({ type: 'extension_error' }));
});

it.each([
  ['while it loads', 'process.exit(4)'],
  ['by its imported name', "import('node:process').then(({ exit }) => exit(4))"],
  ['in a timer', 'setTimeout(() => process.exit(4), 1)'],
  ['twice', 'try { process.exit(4) } catch { process.exit(4) }'],
])('[Z100] process.exit of an extension %s ends the agent with its code', async (_, code) => {
  const home = newHome();
  userExtension(home, 'exit.ts', `export default () => { ${code}; };`);
  const { process: agent } = await openTestAgent('stdio', { home });

  expect(await agent?.exited).toEqual({ code: 4, signal: null });
});

/** A client library on a link in memory, and the agent's side of the link. */
function newClientOnLink() {
  const [inside, outside] = memoryPair();
  return { client: new AgentClient(outside), link: inside };
}
