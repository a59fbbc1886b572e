import { expect } from 'vitest';
import { newGate, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { RawClient, startRawStdio, startRawUnixSocket, connectSocketWhenListening } from '../../support/clients/raw-client.ts';
import { verifies } from '../../support/verifies.ts';

const gated = (path: string) => [{ steps: [{ text: 'before ' }, { await: path }, { text: 'after' }] }];

const isText = (line: string) => line.includes('"text_delta"');

/** Reads until a line says what is looked for. */
async function lineWith(client: RawClient, fits: (line: string) => boolean): Promise<string> {
  for (let line = await client.line(); line !== undefined; line = await client.line()) if (fits(line)) return line;
  throw new Error('The connection ended before that came');
}

verifies(
  'F12 E6',
  'half a command and then the end is answered as what it is',
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
  'half a command of a client that is gone does not stand before that of the next one',
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
  'a socket that closes in the middle of a run stops nothing, and the next client sees the rest',
  async () => {
    const gate = newGate();
    const home = newHome();
    const { client, socket, path, process } = await startRawUnixSocket(home, { script: gated(gate.path) });
    client.write('{"type":"prompt","message":"go"}\n');
    await lineWith(client, isText);

    socket.destroy();
    const next = await connectSocketWhenListening(path);
    const other = new RawClient(next, next);
    await other.next('ready');
    other.write('{"type":"get_state"}\n');
    const opening = await other.next('message_start');
    const start = await other.next('message_update');
    const { data: state } = await other.next('response');
    gate.open();
    const settled = await other.next('agent_settled');
    other.write('{"type":"get_last_assistant_text"}\n');

    expect(opening.message).toMatchObject({ role: 'assistant', content: [] });
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
  'a run whose client is gone ends and is stored with nobody there',
  async () => {
    const gate = newGate();
    const home = newHome();
    const { client, socket, path } = await startRawUnixSocket(home, { script: gated(gate.path) });
    client.write('{"type":"get_state"}\n{"type":"prompt","message":"go"}\n');
    const { data } = await client.next('response');
    await lineWith(client, isText);

    socket.destroy();
    gate.open();
    const next = await connectSocketWhenListening(path);
    const other = new RawClient(next, next);
    other.write('{"type":"wait_idle"}\n');
    await other.next('response');

    const answers = readSessionFile(data.sessionFile).filter(({ message }) => message?.role === 'assistant');
    expect(answers).toMatchObject([{ message: { content: [{ text: 'before after' }], stopReason: 'stop' } }]);
  },
  ['unix'],
);

verifies(
  'W38 Z37',
  'a second client is refused while the first goes on, and served when that has left',
  async () => {
    const gate = newGate();
    const { client, socket, path } = await startRawUnixSocket(newHome(), { script: gated(gate.path) });
    client.write('{"type":"prompt","message":"go"}\n');
    await lineWith(client, isText);

    const second = await connectSocketWhenListening(path);
    const refused = new RawClient(second, second);
    refused.write('{"type":"abort"}\n');
    const lines = [await refused.line(), await refused.line()];
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
  'a client that says nothing and closes its sending side is let go',
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
  'a hundred clients that push in, and some that say nothing, disturb nobody',
  async () => {
    const { client, path, process } = await startRawUnixSocket(newHome());
    await client.next('ready');

    const crowd = await Promise.all(Array.from({ length: 100 }, () => connectSocketWhenListening(path)));
    const told = crowd.slice(0, 50).map((socket) => new RawClient(socket, socket).line());
    for (const socket of crowd.slice(50)) socket.destroy();
    const answers = await Promise.all(told);
    client.write('{"id":"still here","type":"get_commands"}\n');

    expect(new Set(answers)).toEqual(new Set(['{"type":"server_error","error":"Another client is connected"}']));
    expect(await client.next('response')).toMatchObject({ id: 'still here', success: true });
    expect(process.stderr()).toBe('');
  },
  ['unix'],
);
