import { existsSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import {
  connectWhenListening,
  newGate,
  newHome,
  type OpenOptions,
  startAgentProcess,
  TAU,
} from '../../support/agent/test-agent.ts';
import { outline, Peer, type WireRecord } from '../../support/clients/peer.ts';
import { startProgram } from '../../support/processes/program.ts';

it('[Z36] the socket uses the protocol, and only its owner may open it', async () => {
  const agent = await startListeningAgent();
  const peer = await agent.client();

  const { data } = await peer.request({ id: 1, type: 'get_state' });

  expect(peer.records[0]).toMatchObject({ type: 'ready' });
  expect(data).toMatchObject({ isIdle: true, cwd: agent.home.cwd });
  expect(statSync(agent.path).mode & 0o777).toBe(0o600);
});

it('[Z36 C12] a client that closes its sending side is still answered', async () => {
  const agent = await startListeningAgent();
  await agent.ready();
  const commands = ['bash', 'list_sessions', 'preflight'].map((type) => ({ id: type, type, command: 'sleep 0.05' }));

  for (const request of commands) {
    const socket = connect(agent.path);
    socket.end(`${JSON.stringify(request)}\n`);
    const records = (await text(socket)).trim().split('\n');
    expect(records.map((line) => JSON.parse(line)).at(-1)).toMatchObject({ id: request.id, type: 'response' });
  }
});

it('[Z36] the socket has mode 600 under any umask', async () => {
  const home = newHome();
  const shell = 'umask 000; exec "$0" "$1" --mode rpc --socket agent.sock';
  startProgram(home, ['sh', '-c', shell, process.execPath, TAU]);

  await connectWhenListening(join(home.cwd, 'agent.sock'));

  expect(statSync(join(home.cwd, 'agent.sock')).mode & 0o777).toBe(0o600);
});

it('[Z36] a stale socket of a killed agent is replaced', async () => {
  const first = await startListeningAgent();
  await first.client();
  first.process.kill('SIGKILL');
  await first.process.exited;
  expect(existsSync(first.path)).toBe(true);

  const second = await startListeningAgent({ home: first.home });

  expect(await (await second.client()).ok({ type: 'get_state' })).toMatchObject({ isIdle: true });
});

it('[Z36] a socket in use by another process is left alone', async () => {
  const home = newHome();
  const path = join(home.root, 'agent.sock');
  const other = createServer((socket) => socket.on('error', () => {}).end('mine\n'));
  await new Promise<void>((resolve) => other.listen(path, resolve));

  const { process } = startAgentProcess(home, ['--socket', path]);

  expect(await process.exited).toEqual({ code: 1, signal: null });
  expect(process.stderr()).toBe(`tau: cannot listen on ${path}: it is in use\n`);
  expect(other.listening && existsSync(path)).toBe(true);
  other.close();
});

it('[Z37] a run continues when its client disconnects, and the next client gets its result', async () => {
  const gate = newGate();
  const agent = await startListeningAgent({
    script: [{ steps: [{ text: 'Half' }, { await: gate.path }, { text: ' and half' }] }],
  });
  const first = await agent.client();
  await first.ok({ type: 'prompt', message: 'go' });
  await first.next('message_update');

  first.end();
  await first.closed();
  const second = await agent.client();
  gate.open();
  const idle = await second.ok({ type: 'wait_idle' });

  expect(idle).toMatchObject({ isIdle: true, outcome: 'ok' });
  expect(await second.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'Half and half' });
});

it('[Z37] a client that connects during a model response gets the part it missed', async () => {
  const gate = newGate();
  const written = { path: 'a.txt', content: 'All of it' };
  const agent = await startListeningAgent({
    script: [
      {
        steps: [
          { text: 'Look: ' },
          { toolCall: { name: 'nothing', arguments: {} } },
          { toolCall: { name: 'write', arguments: written }, chunks: 4, await: gate.path },
        ],
      },
      { text: 'done' },
    ],
  });
  const first = await agent.client();
  await first.ok({ type: 'prompt', message: 'go' });
  await first.next((record) => deltaOf(record, 2) !== '');

  first.end();
  await first.closed();
  const second = await agent.client();
  await second.next((record) => deltaOf(record, 2) !== '');
  gate.open();
  const end = await second.find('message_end');

  const response = second.records.slice(0, second.records.indexOf(end));
  expect(outline(response)).toEqual([
    'ready',
    'message_start',
    ...['start', 'text_start', 'text_delta', 'text_end'].map(step),
    ...['toolcall_start', 'toolcall_delta', 'toolcall_end'].map(step),
    ...['toolcall_start', 'toolcall_delta', 'toolcall_end', 'done'].map(step),
  ]);
  expect(response.map((record) => deltaOf(record, 0)).join('')).toBe('Look: ');
  expect(JSON.parse(response.map((record) => deltaOf(record, 1)).join(''))).toEqual({});
  expect(JSON.parse(response.map((record) => deltaOf(record, 2)).join(''))).toEqual(written);
});

it('[Z37] each client starts with the default dialect', async () => {
  const agent = await startListeningAgent({ script: [{ text: 'one' }, { text: 'two' }] });
  const first = await agent.client();
  await first.ok({ type: 'hello', stream: 'delta', entries: true });
  await first.run('hi');
  first.end();
  await first.closed();

  const second = await agent.client();
  const records = await second.run('hi');

  expect(second.records[0]).toMatchObject({ type: 'ready' });
  expect(records.filter(({ type }) => type === 'entry_appended')).toEqual([]);
  for (const update of records.filter(({ type }) => type === 'message_update'))
    expect(update).toHaveProperty('message');
});

it('[Z37] a client that closes only its sending side gets its run to the end', async () => {
  const agent = await startListeningAgent({ script: [{ text: 'All of it' }] });
  await agent.ready();
  const socket = connect(agent.path);

  socket.end('{"type":"prompt","message":"go"}\n');
  const records = (await text(socket))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

  expect(records[0]).toMatchObject({ type: 'ready' });
  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
});

it('[Z37] twenty clients in a row are served by the same agent', async () => {
  const agent = await startListeningAgent();
  const seen = new Set<string>();

  for (let client = 0; client < 20; client++) {
    const peer = await agent.client();
    seen.add((await peer.ok({ type: 'get_state' })).sessionId);
    peer.end();
    await peer.closed();
  }

  expect(seen.size).toBe(1);
});

it('[W38 Z37] a second client is rejected with a reason, and the first is not affected', async () => {
  const agent = await startListeningAgent();
  const first = await agent.client();
  await first.greeted();

  const second = await agent.client();
  await second.closed();

  expect(second.records).toEqual([{ type: 'server_error', error: 'Another client is connected' }]);
  expect(await first.ok({ type: 'get_state' })).toMatchObject({ isIdle: true });
});

it('[Z38] with --socket stdin is ignored, and its end too', async () => {
  const agent = await startListeningAgent();
  const peer = await agent.client();

  agent.stdin('{"type":"prompt","message":"hello"}\n');
  agent.process.endInput();
  await peer.run('say hello');

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 2 });
  expect(agent.process.stdout()).toBe('');
});

it('[Z38] a signal ends the process and removes the socket', async () => {
  const agent = await startListeningAgent();
  const peer = await agent.client();
  await peer.run('say hello');

  agent.process.kill('SIGTERM');

  expect(await agent.process.exited).toEqual({ code: 143, signal: null });
  await peer.closed();
  expect(existsSync(agent.path)).toBe(false);
});

const step = (type: string) => `message_update:${type}`;

/** The delta of this record for one content block of the first response. */
function deltaOf({ assistantMessageEvent }: WireRecord, index: number): string {
  const { contentIndex, delta } = (assistantMessageEvent ?? {}) as { contentIndex?: number; delta?: string };
  return contentIndex === index ? (delta ?? '') : '';
}

/** Starts an agent that listens on a socket. */
async function startListeningAgent(options: OpenOptions = {}) {
  const home = options.home ?? newHome();
  const path = join(home.root, 'agent.sock');
  const script = join(home.root, 'script.jsonl');
  if (options.script) writeFileSync(script, options.script.map((response) => JSON.stringify(response)).join('\n'));
  const { process, link } = startAgentProcess(
    home,
    ['--socket', path, ...(options.script ? ['--script', script] : [])],
    options,
  );
  link.onLine(() => {});
  const ended = process.exited.then(() => {
    throw new Error(`tau has ended: ${process.stderr()}`);
  });
  ended.catch(() => {});
  const client = async () => new Peer(await Promise.race([connectWhenListening(path), ended]));
  const ready = async () => {
    const peer = await client();
    peer.end();
    await peer.closed();
  };
  return { home, path, process, stdin: link.write, client, ready };
}
