import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type AgentClient, CommandFailed, ConnectionLost } from '../../../src/client/index.ts';
import { connectAgent, type SpawnedAgent, spawnAgent } from '../../../src/client/spawn.node.ts';
import { connectWhenListening, environment, type Home, newHome, sessionFiles, startAgentProcess, readSessionFile, TAU } from '../../support/agent/test-agent.ts';
import { assertValid } from '../../support/protocol/wire-log.ts';

const ROUNDS = 100;

it('[V3] an agent is started in --mode rpc as a child process', async () => {
  const home = newHome();
  const wrapper = join(home.root, 'wrapper');
  writeFileSync(wrapper, `#!/bin/sh\necho "$PPID $@" > "${home.root}/arguments"\nexec "${TAU}" "$@"\n`);
  chmodSync(wrapper, 0o755);

  const agent = spawned(home, { command: wrapper, args: ['--no-session'] });
  const { isIdle } = await agent.client.getState();

  expect(isIdle).toBe(true);
  expect(readFileSync(join(home.root, 'arguments'), 'utf8')).toMatch(
    new RegExp(`^${process.pid} --mode rpc .*--no-session\n$`),
  );
});

it('[V3] commands may be sent before the agent is ready', async () => {
  const { client } = spawned(newHome());

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

it('[V4 V8] listeners and iterators hear the same, and all of it is what the protocol says', async () => {
  const { client, close } = spawned(newHome());
  const events = client.events();
  const heard: string[] = [];
  client.onEvent((event) => heard.push(event.type));

  await client.promptAndWait('list the files then say goodbye');
  await close();
  const read: string[] = [];
  for await (const event of events) {
    assertValid({ ...event });
    read.push(event.type);
  }

  expect(read).toEqual(heard);
  expect(read).toContain('tool_execution_end');
  expect(read.at(-1)).toBe('agent_settled');
});

it('streams in delta form, whether started or connected to', async () => {
  const started = spawned(newHome()).client;
  const listened = await connectAgent((await listening()).path);

  for (const client of [started, listened]) {
    const { events } = await client.promptAndWait('say hello');
    const updates = events.filter((event) => event.type === 'message_update');

    expect(updates.length).toBeGreaterThan(0);
    for (const update of updates) expect(update).not.toHaveProperty('message');
  }
});

it('[V9 V10] promptAndWait loses nothing of a very fast model over stdio', async () => {
  await losesNothing(spawned(newHome(), { args: ['--no-session'] }).client);
});

it('[V9 V10] promptAndWait loses nothing of a very fast model over a socket', async () => {
  await losesNothing(await connectAgent((await listening()).path));
});

it('[V9 P42] promptAndWait does not send a prompt twice: it waits for the run that is on, or for nothing', async () => {
  const { client } = spawned(newHome(), { args: ['--model', 'tau/scripted-slow'] });
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

it('a refusal carries its code', async () => {
  const { client } = spawned(newHome());

  const error = await client.setModel({ provider: 'acme', modelId: 'x' }).catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(CommandFailed);
  expect(error).toMatchObject({ command: 'set_model', code: 'model_not_found', message: 'Model not found: acme/x' });
});

it('[V11] everything that waits rejects when the agent is killed', async () => {
  const agent = spawned(newHome(), { args: ['--model', 'tau/scripted-slow'] });
  const { client } = agent;
  const events = client.events();
  const waiting = [
    client.promptAndWait('stall'),
    client.waitIdle(),
    client.promptAndWait({ message: 'x', streamingBehavior: 'steer' }),
  ];
  const outcomes = Promise.allSettled(waiting);
  for await (const { type } of events) if (type === 'message_update') break;

  agent.kill('SIGKILL');

  for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: expect.any(ConnectionLost) });
  expect(await agent.exited).toEqual({ code: null, signal: 'SIGKILL' });
  await expect(client.getState()).rejects.toBeInstanceOf(ConnectionLost);
  expect(await client.events().next()).toMatchObject({ done: true });
});

it('[V11] everything that waits rejects when the agent behind a socket is killed', async () => {
  const agent = await listening();
  const client = await connectAgent(agent.path);
  const running = client.promptAndWait('stall');
  const waiting = Promise.allSettled([running, client.waitIdle()]);
  for await (const { type } of client.events()) if (type === 'message_update') break;

  agent.process.kill('SIGKILL');

  for (const outcome of await waiting) expect(outcome).toMatchObject({ reason: expect.any(ConnectionLost) });
});

it('[V11] a program that does not exist or does not start rejects every call', async () => {
  const missing = spawned(newHome(), { command: 'no-such-agent' });
  const wrong = spawned(newHome(), { args: ['--wat'] });

  await expect(missing.client.getState()).rejects.toBeInstanceOf(ConnectionLost);
  await expect(wrong.client.promptAndWait('hello')).rejects.toBeInstanceOf(ConnectionLost);

  await missing.exited;
  expect(missing.stderr()).toContain('ENOENT');
  expect(await wrong.exited).toEqual({ code: 2, signal: null });
  expect(wrong.stderr()).toContain('Unknown option: --wat');
});

it('closing lets the agent finish what it accepted', async () => {
  const home = newHome();
  const agent = spawned(home);
  await agent.client.prompt({ message: 'run `sleep 0.2` then say goodbye' });

  expect(await agent.close()).toEqual({ code: 0, signal: null });

  const [path = ''] = sessionFiles(home);
  expect(readSessionFile(path).at(-1)).toMatchObject({ message: { role: 'assistant', stopReason: 'stop' } });
});

it('[V2 V11] an answer longer than any command may be arrives over every link', async () => {
  const home = newHome();
  const path = join(home.cwd, 'long.jsonl');
  writeFileSync(path, longSession(70));
  const { client, close } = spawned(home, { args: ['--session', path] });
  expect((await client.getMessages()).messages).toHaveLength(70);
  await close();
  const socket = await connectAgent((await listening(['--session', path], home)).path);

  expect((await socket.getMessages()).messages).toHaveLength(70);
});

it('[V11] nobody to connect to is an error at once', async () => {
  const home = newHome();

  await expect(connectAgent(join(home.root, 'nobody.sock'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(connectAgent('x'.repeat(200))).rejects.toThrow('longer than');
});

it('[V4 V11] a second client of a socket hears why it is refused', async () => {
  const { path } = await listening();
  const first = await connectAgent(path);
  await first.getState();

  const second = await connectAgent(path);
  const heard: unknown[] = [];
  second.onEvent((event) => heard.push(event));

  await expect(second.waitIdle()).rejects.toEqual(new ConnectionLost('Another client is connected'));
  expect(heard).toEqual([{ type: 'server_error', error: 'Another client is connected' }]);
});

/** Many prompts in a row, each with the whole of its own run and nothing of another. */
async function losesNothing(client: AgentClient): Promise<void> {
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

/** An agent of the client's own making. It is gone after the test. */
function spawned(home: Home, options: { command?: string; args?: string[] } = {}): SpawnedAgent {
  const agent = spawnAgent({ command: TAU, cwd: home.cwd, env: environment(home), ...options });
  onTestFinished(async () => {
    agent.kill('SIGKILL');
    await agent.exited;
  });
  return agent;
}

/** An agent on a socket that is ready for its first client. */
async function listening(args: string[] = [], home = newHome()) {
  const path = join(home.root, 'agent.sock');
  const { process } = startAgentProcess(home, ['--socket', path, ...args]);
  const probe = await connectWhenListening(path);
  const gone = new Promise<void>((resolve) => probe.onClose(() => resolve()));
  probe.close();
  await gone;
  return { path, process };
}

/** A session with messages of a megabyte each. */
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
