import { expect } from 'vitest';
import { newGate, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import {
  connectSocketWhenListening,
  RawClient,
  startRawStdio,
  startRawUnixSocket,
} from '../../support/clients/raw-client.ts';
import { verifies } from '../../support/verifies.ts';

const gated = (path: string) => [{ steps: [{ text: 'before ' }, { await: path }, { text: 'after' }] }];

const isText = (line: string) => line.includes('"text_delta"');

/** Reads up to the first line that matches. */
async function readLineMatching(client: RawClient, matches: (line: string) => boolean): Promise<string> {
  for (let line = await client.line(); line !== undefined; line = await client.line()) if (matches(line)) return line;
  throw new Error('The connection ended before that came');
}

verifies(
  'F12 E6',
  'half a command before the end of input gets a parse error',
  async () => {
    const { client, exited, stderr } = startRawStdio(newHome());

    client.write('{"id":1,"type":"get_commands"}\n{"id":2,"type":"prompt","mess');
    client.end();

    expect(await client.next('response')).toMatchObject({ id: 1, success: true });
    expect(await client.next('response')).toMatchObject({ id: 2, command: 'parse', code: 'invalid_json' });
    expect(await client.line()).toBeUndefined();
    expect(await exited).toBe(0);
    expect(stderr()).toBe('');
  },
  ['stdio'],
);

verifies(
  'F12 Z37',
  'half a command of a closed connection does not affect the next client',
  async () => {
    const { client, socket, path } = await startRawUnixSocket(newHome());
    await client.next('ready');

    client.write('{"id":1,"type":"get_com');
    socket.destroy();
    const next = await connectSocketWhenListening(path);
    const other = new RawClient(next, next);
    other.write('{"id":2,"type":"get_commands"}\n');

    expect(await other.next('response')).toMatchObject({ id: 2, success: true });
  },
  ['unix'],
);

verifies(
  'Z37 M14',
  'a run continues when its socket closes, and the next client gets the rest',
  async () => {
    const gate = newGate();
    const home = newHome();
    const { client, socket, path, process } = await startRawUnixSocket(home, { script: gated(gate.path) });
    client.write('{"type":"prompt","message":"go"}\n');
    await readLineMatching(client, isText);

    socket.destroy();
    const next = await connectSocketWhenListening(path);
    const other = new RawClient(next, next);
    await other.next('ready');
    other.write('{"type":"get_state"}\n');
    const firstMessage = await other.next('message_start');
    const start = await other.next('message_update');
    const { data: state } = await other.next('response');
    gate.open();
    const settled = await other.next('agent_settled');
    other.write('{"type":"get_last_assistant_text"}\n');

    expect(firstMessage.message).toMatchObject({ role: 'assistant', content: [] });
    expect(start.assistantMessageEvent.type).toBe('start');
    expect(state).toMatchObject({ isStreaming: true, runId: settled.runId });
    expect(settled).toMatchObject({ outcome: 'ok' });
    expect((await other.next('response')).data).toEqual({ text: 'before after' });
    expect(process.stderr()).toBe('');
  },
  ['unix'],
);

verifies(
  'Z37',
  'a run without a client settles and is stored',
  async () => {
    const gate = newGate();
    const home = newHome();
    const { client, socket, path } = await startRawUnixSocket(home, { script: gated(gate.path) });
    client.write('{"type":"get_state"}\n{"type":"prompt","message":"go"}\n');
    const { data } = await client.next('response');
    await readLineMatching(client, isText);

    socket.destroy();
    gate.open();
    const next = await connectSocketWhenListening(path);
    const other = new RawClient(next, next);
    other.write('{"type":"wait_idle"}\n');
    await other.next('response');

    const results = readSessionFile(data.sessionFile).filter(({ message }) => message?.role === 'assistant');
    expect(results).toMatchObject([{ message: { content: [{ text: 'before after' }], stopReason: 'stop' } }]);
  },
  ['unix'],
);

verifies(
  'W38 Z37',
  'a second client is rejected while the first is connected, and accepted afterwards',
  async () => {
    const gate = newGate();
    const { client, socket, path } = await startRawUnixSocket(newHome(), { script: gated(gate.path) });
    client.write('{"type":"prompt","message":"go"}\n');
    await readLineMatching(client, isText);

    const second = await connectSocketWhenListening(path);
    const rejected = new RawClient(second, second);
    rejected.write('{"type":"abort"}\n');
    const lines = [await rejected.line(), await rejected.line()];
    gate.open();
    const settled = await client.next('agent_settled');
    socket.end();
    await new Promise((resolve) => socket.once('close', resolve).resume());
    const third = await connectSocketWhenListening(path);
    const served = new RawClient(third, third);
    served.write('{"type":"get_last_assistant_text"}\n');

    expect(lines).toEqual(['{"type":"server_error","error":"Another client is connected"}', undefined]);
    expect(settled).toMatchObject({ outcome: 'ok' });
    expect((await served.next('response')).data).toEqual({ text: 'before after' });
  },
  ['unix'],
);

verifies(
  'Z37',
  'a client that closes its sending side at once is disconnected',
  async () => {
    const { client, path } = await startRawUnixSocket(newHome());

    client.end();
    await client.next('ready');
    const rest = await client.line();
    const next = await connectSocketWhenListening(path);
    const other = new RawClient(next, next);
    other.write('{"id":"served","type":"get_commands"}\n');

    expect(rest).toBeUndefined();
    expect(await other.next('response')).toMatchObject({ id: 'served', success: true });
  },
  ['unix'],
);

verifies(
  'W38 Z37',
  'a hundred rejected or silent connections do not disturb the client',
  async () => {
    const { client, path, process } = await startRawUnixSocket(newHome());
    await client.next('ready');

    const crowd = await Promise.all(Array.from({ length: 100 }, () => connectSocketWhenListening(path)));
    const firstLines = crowd.slice(0, 50).map((socket) => new RawClient(socket, socket).line());
    for (const socket of crowd.slice(50)) socket.destroy();
    const results = await Promise.all(firstLines);
    client.write('{"id":"still here","type":"get_commands"}\n');

    expect(new Set(results)).toEqual(new Set(['{"type":"server_error","error":"Another client is connected"}']));
    expect(await client.next('response')).toMatchObject({ id: 'still here', success: true });
    expect(process.stderr()).toBe('');
  },
  ['unix'],
);
