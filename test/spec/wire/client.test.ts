import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type AgentClient, CommandFailed, ConnectionLost } from '../../../src/client/index.ts';
import { connectAgent, type SpawnedAgent, spawnAgent } from '../../../src/client/spawn.node.ts';
import {
  connectWhenListening,
  environment,
  type Home,
  newHome,
  readSessionFile,
  sessionFiles,
  startAgentProcess,
  TAU,
} from '../../support/agent/test-agent.ts';
import { assertValid } from '../../support/protocol/wire-log.ts';

const ROUNDS = 100;

it('[V3] spawnAgent starts the agent in --mode rpc as a child process', async () => {
  const home = newHome();
  const wrapper = join(home.root, 'wrapper');
  writeFileSync(wrapper, `#!/bin/sh\necho "$PPID $@" > "${home.root}/arguments"\nexec "${TAU}" "$@"\n`);
  chmodSync(wrapper, 0o755);

  const agent = spawnTestAgent(home, { command: wrapper, args: ['--no-session'] });
  const { isIdle } = await agent.client.getState();

  expect(isIdle).toBe(true);
  expect(readFileSync(join(home.root, 'arguments'), 'utf8')).toMatch(
    new RegExp(`^${process.pid} --mode rpc .*--no-session\n$`),
  );
});

it('[V3] commands may be sent before the agent is ready', async () => {
  const { client } = spawnTestAgent(newHome());

  const [state, models, , text] = await Promise.all([
    client.getState(),
    client.getAvailableModels(),
    client.setSessionName({ name: 'early' }),
    client.getLastAssistantText(),
  ]);

  expect(state.model?.provider).toBe('tau');
  expect(models.models.length).toBeGreaterThan(0);
  expect(text).toEqual({ text: null });
});

it('[V4 V8] listeners and iterators get the same valid events', async () => {
  const { client, close } = spawnTestAgent(newHome());
  const events = client.events();
  const received: string[] = [];
  client.onEvent((event) => received.push(event.type));

  await client.promptAndWait('list the files then say goodbye');
  await close();
  const read: string[] = [];
  for await (const event of events) {
    assertValid({ ...event });
    read.push(event.type);
  }

  expect(read).toEqual(received);
  expect(read).toContain('tool_execution_end');
  expect(read.at(-1)).toBe('agent_settled');
});

it('spawned and connected clients stream in delta form', async () => {
  const started = spawnTestAgent(newHome()).client;
  const attached = await connectAgent((await startListeningAgent()).path);

  for (const client of [started, attached]) {
    const { events } = await client.promptAndWait('say hello');
    const updates = events.filter((event) => event.type === 'message_update');

    expect(updates.length).toBeGreaterThan(0);
    for (const update of updates) expect(update).not.toHaveProperty('message');
  }
});

it('[V9 V10] promptAndWait loses no event of a very fast model over stdio', async () => {
  await checkNoEventLost(spawnTestAgent(newHome(), { args: ['--no-session'] }).client);
});

it('[V9 V10] promptAndWait loses no event of a very fast model over a socket', async () => {
  await checkNoEventLost(await connectAgent((await startListeningAgent()).path));
});

it('[V9 P42] promptAndWait does not send a prompt twice: a repeat joins the run or returns at once', async () => {
  const { client } = spawnTestAgent(newHome(), { args: ['--model', 'tau/scripted-slow'] });
  const prompt = { message: 'count to 3', clientMessageId: 'c1' };

  const [first, again] = await Promise.all([client.promptAndWait(prompt), client.promptAndWait(prompt)]);
  const late = await client.promptAndWait(prompt);

  expect(first).toMatchObject({ accepted: { disposition: 'started' }, settled: { outcome: 'ok' } });
  expect(again).toMatchObject({ accepted: { duplicate: true }, settled: first.settled, messages: first.messages });
  expect(late).toEqual({
    accepted: { disposition: 'handled', duplicate: true },
    settled: undefined,
    messages: [],
    events: [],
  });
  expect(await client.getMessages()).toEqual({ messages: first.messages });
});

it('a rejected command throws CommandFailed with its code', async () => {
  const { client } = spawnTestAgent(newHome());

  const error = await client.setModel({ provider: 'acme', modelId: 'x' }).catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(CommandFailed);
  expect(error).toMatchObject({ command: 'set_model', code: 'model_not_found', message: 'Model not found: acme/x' });
});

it('[V11] all pending calls reject when the agent is killed', async () => {
  const agent = spawnTestAgent(newHome(), { args: ['--model', 'tau/scripted-slow'] });
  const { client } = agent;
  const events = client.events();
  const pending = [
    client.promptAndWait('stall'),
    client.waitIdle(),
    client.promptAndWait({ message: 'x', streamingBehavior: 'steer' }),
  ];
  const outcomes = Promise.allSettled(pending);
  for await (const { type } of events) if (type === 'message_update') break;

  agent.kill('SIGKILL');

  for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: expect.any(ConnectionLost) });
  expect(await agent.exited).toEqual({ code: null, signal: 'SIGKILL' });
  await expect(client.getState()).rejects.toBeInstanceOf(ConnectionLost);
  expect(await client.events().next()).toMatchObject({ done: true });
});

it('[V11] all pending calls reject when the agent behind a socket is killed', async () => {
  const agent = await startListeningAgent();
  const client = await connectAgent(agent.path);
  const running = client.promptAndWait('stall');
  const pending = Promise.allSettled([running, client.waitIdle()]);
  for await (const { type } of client.events()) if (type === 'message_update') break;

  agent.process.kill('SIGKILL');

  for (const outcome of await pending) expect(outcome).toMatchObject({ reason: expect.any(ConnectionLost) });
});

it('[V11] a program that is missing or fails to start rejects every call', async () => {
  const missing = spawnTestAgent(newHome(), { command: 'no-such-agent' });
  const wrong = spawnTestAgent(newHome(), { args: ['--wat'] });

  await expect(missing.client.getState()).rejects.toBeInstanceOf(ConnectionLost);
  await expect(wrong.client.promptAndWait('hello')).rejects.toBeInstanceOf(ConnectionLost);

  await missing.exited;
  expect(missing.stderr()).toContain('ENOENT');
  expect(await wrong.exited).toEqual({ code: 2, signal: null });
  expect(wrong.stderr()).toContain('Unknown option: --wat');
});

it('close lets the agent finish accepted work', async () => {
  const home = newHome();
  const agent = spawnTestAgent(home);
  await agent.client.prompt({ message: 'run `sleep 0.2` then say goodbye' });

  expect(await agent.close()).toEqual({ code: 0, signal: null });

  const [path = ''] = sessionFiles(home);
  expect(readSessionFile(path).at(-1)).toMatchObject({ message: { role: 'assistant', stopReason: 'stop' } });
});

it('[V2 V11] a response over the command size limit arrives over every transport', async () => {
  const home = newHome();
  const path = join(home.cwd, 'long.jsonl');
  writeFileSync(path, longSession(70));
  const { client, close } = spawnTestAgent(home, { args: ['--session', path] });
  expect((await client.getMessages()).messages).toHaveLength(70);
  await close();
  const socket = await connectAgent((await startListeningAgent(['--session', path], home)).path);

  expect((await socket.getMessages()).messages).toHaveLength(70);
});

it('[V11] connectAgent without a listening agent rejects at once', async () => {
  const home = newHome();

  await expect(connectAgent(join(home.root, 'nobody.sock'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(connectAgent('x'.repeat(200))).rejects.toThrow('longer than');
});

it('[V4 V11] a rejected second client of a socket gets the reason', async () => {
  const { path } = await startListeningAgent();
  const first = await connectAgent(path);
  await first.getState();

  const second = await connectAgent(path);
  const received: unknown[] = [];
  second.onEvent((event) => received.push(event));

  await expect(second.waitIdle()).rejects.toEqual(new ConnectionLost('Another client is connected'));
  expect(received).toEqual([{ type: 'server_error', error: 'Another client is connected' }]);
});

/** Sends many prompts in a row and checks that each gets exactly its own run. */
async function checkNoEventLost(client: AgentClient): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const { settled, messages, events } = await client.promptAndWait(`say round ${round}`);

    expect(settled?.outcome).toBe('ok');
    expect(messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: expect.arrayContaining([{ type: 'text', text: `round ${round}` }]) },
    ]);
    const types = events.map(({ type }) => type).filter((type) => /^(agent|turn)/.test(type));
    expect(types).toEqual(['agent_start', 'turn_start', 'turn_end', 'agent_end', 'agent_settled']);
  }
}

/** Spawns an agent that is killed after the test. */
function spawnTestAgent(home: Home, options: { command?: string; args?: string[] } = {}): SpawnedAgent {
  const agent = spawnAgent({ command: TAU, cwd: home.cwd, env: environment(home), ...options });
  onTestFinished(async () => {
    agent.kill('SIGKILL');
    await agent.exited;
  });
  return agent;
}

/** Starts an agent on a socket and waits until it accepts clients. */
async function startListeningAgent(args: string[] = [], home = newHome()) {
  const path = join(home.root, 'agent.sock');
  const { process } = startAgentProcess(home, ['--socket', path, ...args]);
  const probe = await connectWhenListening(path);
  const closed = new Promise<void>((resolve) => probe.onClose(() => resolve()));
  probe.close();
  await closed;
  return { path, process };
}

/** A session file with messages of one megabyte each. */
function longSession(messages: number): string {
  const timestamp = new Date(0).toISOString();
  const header = { type: 'session', version: 3, id: 'long', timestamp, cwd: '/' };
  const entries = Array.from({ length: messages }, (_, index) => ({
    type: 'message',
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp,
    message: { role: 'user', content: 'x'.repeat(1024 * 1024), timestamp: 0 },
  }));
  return [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join('');
}
