import { expect } from 'vitest';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { startRawStdio, startRawUnixSocket } from '../../support/clients/raw-client.ts';
import { verifies } from '../../support/verifies.ts';

const responses = ({ records }: Peer): WireRecord[] => records.filter(({ type }) => type === 'response');

/** Waits for a final command and returns all responses before its own. */
async function responsesSoFar(peer: Peer): Promise<WireRecord[]> {
  await peer.ok({ type: 'get_last_assistant_text', id: 'the last one' });
  return responses(peer).slice(0, -1);
}

const bytes = (text: string) => new TextEncoder().encode(text);

verifies('F1 C1', 'a command is one object on one line, and so is its response', async ({ open }) => {
  const { peer } = await open();

  peer.send('{"type":"get_last_assistant_text"}\n{"type":"get_commands"}\n');

  expect(await responsesSoFar(peer)).toEqual([
    { type: 'response', command: 'get_last_assistant_text', success: true, data: { text: null } },
    { type: 'response', command: 'get_commands', success: true, data: { commands: [] } },
  ]);
});

verifies(
  'F1 F3 F8 C14 C24',
  'every record is an object with a type, and one LF ends it',
  async ({ transport }) => {
    const script = [{ steps: [{ toolCall: { name: 'bash', arguments: { command: 'echo one; echo two' } } }] }];
    const home = newHome();
    const agent = transport === 'stdio' ? startRawStdio(home, { script }) : await startRawUnixSocket(home, { script });
    const { client } = agent;

    client.write('{"type":"prompt","message":"go"}\n');
    await client.next('agent_settled');

    const lines = client.received.split('\n');
    expect(lines.pop()).toBe('');
    for (const line of lines) {
      expect(line).toMatch(/^\{.*\}$/);
      expect(JSON.parse(line)).toEqual(expect.objectContaining({ type: expect.stringMatching(/^[a-z_]+$/) }));
      expect(line).not.toMatch(/"jsonrpc"|"params"|"payload"|"event":\{/);
    }
  },
  ['stdio', 'unix'],
);

verifies(
  'F2',
  'commands are read from stdin, records written to stdout, and stderr stays empty',
  async () => {
    const { client, stderr, exited } = startRawStdio(newHome());

    client.write('{"type":"get_commands"}\nnonsense\n{"type":"get_nothing"}\n');
    client.end();

    const commands = [await client.next('response'), await client.next('response'), await client.next('response')];
    expect(commands.map(({ command }) => command)).toEqual(['get_commands', 'parse', 'get_nothing']);
    expect(await exited).toBe(0);
    expect(stderr()).toBe('');
  },
  ['stdio'],
);

verifies('F4 F5', 'only LF ends a line, and a CR before it is dropped', async ({ open }) => {
  const { peer } = await open();

  peer.send('{"id":1,\r"type":"get_commands"}\r\n');
  peer.send('{"id":2,"type":"get_commands"}\r\r\n');
  peer.send('{"id":3,\u2028"type":"get_commands"}\n');
  peer.send('{"id":4,"type":"get_commands"}\u0085{"id":5,"type":"get_commands"}\n');

  const received = await responsesSoFar(peer);
  expect(received.map(({ id, success }) => ({ id, success }))).toEqual([
    { id: 1, success: true },
    { id: 2, success: true },
    { id: 3, success: false },
    { id: 4, success: false },
  ]);
});

verifies('F5', 'the CR of CRLF does not change a parse error', async ({ open }) => {
  const { peer } = await open();

  peer.send('{"id":1,"type":"get_com\n{"id":1,"type":"get_com\r\n');

  const [lf, crlf] = await responsesSoFar(peer);
  expect(crlf).toEqual(lf);
});

verifies('F6', 'line separators inside a string are text', async ({ open }) => {
  const { peer, sessionFiles } = await open({ script: [{ text: 'ok' }] });
  const message = 'one\u2028two\u2029three\u0085four';

  peer.send(`{"type":"prompt","message":"${message}"}\n`);
  await peer.next('agent_settled');

  const entries = readSessionFile(sessionFiles()[0] ?? '');
  expect(entries.find(({ message: storedMessage }) => storedMessage?.role === 'user').message.content).toEqual([
    { type: 'text', text: message },
  ]);
});

verifies(
  'F7',
  'line separators are written as escapes everywhere',
  async ({ transport }) => {
    const text = 'one\u2028two\u2029three\u0085four';
    const home = newHome();
    const options = { script: [{ text }] };
    const { client } = transport === 'stdio' ? startRawStdio(home, options) : await startRawUnixSocket(home, options);

    client.write('{"id":"\\u2028","type":"prompt","message":"\u2029"}\n');
    await client.next('agent_settled');
    client.write('{"type":"get_messages"}\n{"type":"get_tree"}\n{"type":"\\u2028"}\n');
    const received = [await client.next('response'), await client.next('response'), await client.next('response')];

    expect(client.received).not.toMatch(/[\u0085\u2028\u2029]/);
    expect(client.received).toContain('one\\u2028two\\u2029three\\u0085four');
    expect(received[0].data.messages[1].content).toEqual([{ type: 'text', text }]);
    expect(JSON.stringify(received[1])).toContain(text);
    expect(received[2]).toMatchObject({ command: '\u2028', error: 'Unknown command: \u2028' });
  },
  ['stdio', 'unix'],
);

verifies('F9', 'a byte order mark at the start is ignored', async ({ open }) => {
  const { peer } = await open();

  peer.send('\uFEFF{"id":1,"type":"get_commands"}\n');

  expect(await responsesSoFar(peer)).toMatchObject([{ id: 1, success: true }]);
});

verifies('F10', 'blank lines get no response', async ({ open }) => {
  const { peer } = await open();

  peer.send('\n\r\n   \n\t\r\n{"id":1,"type":"get_commands"}\n\n');

  expect(await responsesSoFar(peer)).toMatchObject([{ id: 1, success: true }]);
});

verifies(
  'F11',
  'a character that is cut between two reads arrives whole',
  async ({ transport }) => {
    const home = newHome();
    const { client } = transport === 'stdio' ? startRawStdio(home) : await startRawUnixSocket(home);
    const id = 'é€𝄞';
    const whole = bytes(`{"id":"${id}","type":"get_commands"}\n`);
    const before = bytes('{"id":"before","type":"get_commands"}\n');
    const offsets = [...whole.keys()].filter((offset) => ((whole[offset] ?? 0) & 0xc0) === 0x80);

    for (const offset of offsets) {
      client.write(Uint8Array.from([...before, ...whole.subarray(0, offset)]));
      // This response proves that the partial line behind it was read too.
      expect(await client.next('response')).toMatchObject({ id: 'before' });
      client.write(whole.subarray(offset));
      expect(await client.next('response')).toMatchObject({ id, success: true });
    }

    expect(offsets).toHaveLength(6);
  },
  ['stdio', 'unix'],
);

verifies(
  'F12',
  'a last line without LF is handled at the end of the input',
  async ({ transport }) => {
    const home = newHome();
    const { client } = transport === 'stdio' ? startRawStdio(home) : await startRawUnixSocket(home);

    client.write('{"id":1,"type":"get_commands"}\n{"id":2,"type":"get_last_assistant_text"}');
    client.end();

    expect(await client.next('response')).toMatchObject({ id: 1, success: true });
    expect(await client.next('response')).toMatchObject({ id: 2, success: true });
    expect(await client.line()).toBeUndefined();
  },
  ['stdio', 'unix'],
);

verifies('F15', 'a value that is not a command gets exactly one error', async ({ open }) => {
  const { peer } = await open();
  const values = ['null', '42', '"get_state"', 'true', '[]', '[{"type":"get_state"}]', '{}', '{"id":7}', '{"type":5}'];
  const more = [
    '{"type":null,"id":"a"}',
    '{"type":{"type":"get_state"}}',
    '{"type":["get_state"]}',
    '{"Type":"abort"}',
  ];

  for (const value of [...values, ...more]) peer.send(`${value}\n`);

  const received = await responsesSoFar(peer);
  expect(received).toHaveLength(values.length + more.length);
  for (const response of received) {
    expect(response).toMatchObject({ command: 'parse', success: false, code: 'invalid_params' });
  }
  expect(received.flatMap(({ id }) => (id === undefined ? [] : [id]))).toEqual([7, 'a']);
});

verifies('F18', 'responses are sent in the order in which they were made', async ({ open }) => {
  const { peer } = await open();
  const ids = Array.from({ length: 200 }, (_, index) => index);

  peer.send(ids.map((id) => `{"id":${id},"type":"${id % 2 ? 'get_state' : 'nonsense'}"}\n`).join(''));

  const received = await responsesSoFar(peer);
  expect(received.map(({ id }) => id)).toEqual(ids);
});
