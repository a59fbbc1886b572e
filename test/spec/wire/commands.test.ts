import { expect } from 'vitest';
import { errorCodes } from '../../../src/protocol/errors.ts';
import { tables } from '../../../src/protocol/tables.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { commandNames, sampleParams } from '../../support/protocol/sample-params.ts';
import { verifies } from '../../support/verifies.ts';

const responses = ({ records }: Peer): WireRecord[] => records.filter(({ type }) => type === 'response');

/** Waits until all work is done and returns all earlier responses. */
async function responsesSoFar(peer: Peer): Promise<WireRecord[]> {
  await peer.ok({ type: 'abort', id: 'stop' });
  await peer.ok({ type: 'wait_idle', id: 'the last one' });
  return responses(peer).filter(({ id }) => id !== 'stop' && id !== 'the last one');
}

const success = { type: 'response', command: expect.any(String), success: true };
const failure = { type: 'response', command: expect.any(String), success: false, error: expect.stringMatching(/./) };

verifies('C2 C3 C6 C7 C8 C12', 'every command gets one response, with its id and its name', async ({ open }) => {
  const { peer } = await open();

  for (const name of commandNames) await peer.request({ id: `id of ${name}`, type: name, ...sampleParams(name) });

  const received = await responsesSoFar(peer);
  expect(received.map(({ id }) => id)).toEqual(commandNames.map((name) => `id of ${name}`));
  for (const [index, response] of received.entries()) {
    expect(response).toMatchObject({ type: 'response', command: commandNames[index], success: expect.any(Boolean) });
  }
});

verifies('C2 C5 C12', 'a command without an id gets a response without an id', async ({ open }) => {
  const { peer } = await open();

  for (const name of commandNames) peer.send({ type: name, ...sampleParams(name) });
  // Neither its lane nor wait_idle waits for preflight.
  await peer.find(({ command }) => command === 'preflight');

  // Read commands do not wait for work, and wait_idle not for reads.
  for (const name of commandNames) await peer.find(({ command }) => command === name);
  const received = await responsesSoFar(peer);
  expect(received.map(({ command }) => command).sort()).toEqual([...commandNames].sort());
  for (const response of received) expect(Object.hasOwn(response, 'id')).toBe(false);
});

verifies('C9 C10 C11', 'data appears only on success, error only on failure', async ({ open }) => {
  const { peer } = await open();

  for (const name of commandNames) await peer.request({ type: name, ...sampleParams(name) });

  for (const { id: _id, ...response } of await responsesSoFar(peer)) {
    const { result } = tables.commands[response['command'] as keyof typeof tables.commands] as { result?: unknown };
    if (response['success']) expect(response).toEqual(result ? { ...success, data: response['data'] } : success);
    else expect(response).toEqual({ ...failure, code: expect.toSatisfy((code) => errorCodes.includes(code)) });
  }
});

verifies('C11', 'a command without a result has no data, a null result is null', async ({ open }) => {
  const { peer } = await open();

  const quiet = await peer.request({ id: 1, type: 'set_steering_mode', mode: 'all' });
  const empty = await peer.request({ id: 2, type: 'get_last_assistant_text' });

  expect(quiet).toEqual({ id: 1, type: 'response', command: 'set_steering_mode', success: true });
  expect(empty).toEqual({ id: 2, ...success, data: { text: null } });
});

verifies('C3 C4', 'any JSON value is an id and is returned unchanged', async ({ open }) => {
  const { peer } = await open();
  const ids = [
    0,
    -1,
    1.5,
    1e21,
    9007199254740991,
    '',
    ' ',
    '"\\\n\u2028',
    null,
    true,
    false,
    [],
    {},
    [[0], { a: null }],
  ];
  const texts = ['{"__proto__":1}', '{"constructor":{"prototype":[]},"id":{"id":1}}', `"${'x'.repeat(100_000)}"`];
  const all = [...ids.map((id) => JSON.stringify(id)), ...texts];

  for (const id of all) {
    peer.send(`{"id":${id},"type":"get_commands"}\n`);
    peer.send(`{"id":${id},"type":"get_nothing"}\n`);
    peer.send(`{"id":${id},"type":"prompt"}\n`);
    peer.send(`{"id":${id},"type":"wait_idle"}\n`);
  }

  const received = await responsesSoFar(peer);
  const inOrder = (command: string) =>
    received.filter((response) => response['command'] === command).map(({ id }) => JSON.stringify(id));
  for (const command of ['get_commands', 'get_nothing', 'prompt', 'wait_idle']) expect(inOrder(command)).toEqual(all);
});

verifies('C3 C12', 'two commands with one id get two responses with that id', async ({ open }) => {
  const { peer } = await open();

  peer.send({ id: 'same', type: 'get_commands' });
  peer.send({ id: 'same', type: 'get_nothing' });

  expect((await responsesSoFar(peer)).map(({ id, command }) => ({ id, command }))).toEqual([
    { id: 'same', command: 'get_commands' },
    { id: 'same', command: 'get_nothing' },
  ]);
});

verifies('C13 C15', 'frames get no response, whatever their content, idle and during a run', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ await: gate.path }] }] });
  const result = { content: [{ type: 'text', text: 'a' }] };
  const frames = [
    { type: 'extension_ui_response', id: 'nobody', value: 'a' },
    { type: 'extension_ui_response', id: 'nobody', cancelled: true },
    { type: 'host_tool_update', id: 'nobody', partialResult: result },
    { type: 'host_tool_result', id: 'nobody', result, isError: true },
    { type: 'extension_ui_response' },
    { type: 'host_tool_update', id: 5, partialResult: 'none' },
    { type: 'host_tool_result', id: null, result: { content: [{ type: 'image' }] } },
  ];

  for (const frame of frames) peer.send(frame);
  await peer.ok({ type: 'prompt', message: 'go', id: 'nobody' });
  for (const frame of frames) peer.send(frame);

  expect((await responsesSoFar(peer)).map(({ command }) => command)).toEqual(['prompt']);
});

verifies('C15', 'every type that is not a frame name is a command', async ({ open }) => {
  const { peer } = await open();
  const types = ['response', 'agent_start', 'extension_ui_request', 'host_tool_call', 'Host_tool_result', 'abort ', ''];

  for (const type of types) peer.send({ type, id: type });

  expect(await responsesSoFar(peer)).toEqual(
    types.map((type) => ({
      id: type,
      type: 'response',
      command: type,
      success: false,
      error: `Unknown command: ${type}`,
      code: 'unknown_command',
    })),
  );
});

verifies('C16', 'unknown fields of a command are ignored', async ({ open }) => {
  const { peer } = await open();
  const extra = '"version":9,"__proto__":{"mode":"all"},"params":{},"toString":null,"message":[1]';

  peer.send(`{"id":1,${extra},"type":"set_follow_up_mode","mode":"all"}\n`);
  peer.send(`{"id":2,${extra},"type":"set_follow_up_mode"}\n`);

  expect(await responsesSoFar(peer)).toMatchObject([
    { id: 1, success: true },
    { id: 2, success: false, code: 'invalid_params' },
  ]);
});

verifies(
  'C14 C24',
  'only responses have the type response, and every other type is a known event',
  async ({ open }) => {
    const { peer } = await open();

    const records = await peer.run('list the files and read nothing.txt');

    const known = new Set(['response', ...Object.keys(tables.events)]);
    expect(records.map(({ type }) => type).filter((type) => !known.has(type))).toEqual([]);
    expect(
      records.filter(({ type, success: successField }) => (type === 'response') !== (successField !== undefined)),
    ).toEqual([]);
  },
);
