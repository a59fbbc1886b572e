import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { errorCodes } from '../../../src/protocol/errors.ts';
import { newGate, openTestAgent as openOn } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

/** Sends raw lines and returns the responses to them. */
async function responsesTo(peer: Peer, lines: readonly string[]): Promise<WireRecord[]> {
  await peer.greeted();
  const from = peer.records.length;
  const last = `after ${from}`;
  peer.send(lines.map((line) => `${line}\n`).join(''));
  // This command waits for every session command before it and changes nothing.
  await peer.ok({ type: 'set_steering_mode', mode: 'one-at-a-time', id: last });
  return peer.records.slice(from).filter(({ type, id }) => type === 'response' && id !== last);
}

verifies('E1 E2 E5', 'a failed command gets a response with its id, its name and an error text', async ({ open }) => {
  const { peer } = await open();

  const response = await peer.request({ id: 'm', type: 'set_model', provider: 'nobody', modelId: 'nothing' });

  expect(response).toEqual({
    id: 'm',
    type: 'response',
    command: 'set_model',
    success: false,
    error: 'Model not found: nobody/nothing',
    code: 'model_not_found',
  });
});

verifies('E2 E5', 'a command that fails after waiting gets a response with its own id and name', async ({ open }) => {
  const { peer } = await open();

  const fork = { id: { n: 2 }, type: 'fork', entryId: 'none' };
  const [first, second] = await Promise.all([peer.request({ id: 1, type: 'clone' }), peer.request(fork)]);

  expect(first).toMatchObject({ id: 1, command: 'clone', success: true });
  expect(second).toMatchObject({ id: { n: 2 }, command: 'fork', success: false, code: 'not_found' });
});

verifies('E3 E4', 'an unknown command gets an error response with its id and name', async ({ open }) => {
  const { peer } = await open();
  const types = ['get_nothing', 'PROMPT', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a"b\\c\n', '💥'];

  const responses = await responsesTo(
    peer,
    types.map((type) => JSON.stringify({ type, id: [type] })),
  );

  expect(responses).toEqual(
    types.map((type) => ({
      id: [type],
      type: 'response',
      command: type,
      success: false,
      error: `Unknown command: ${type}`,
      code: 'unknown_command',
    })),
  );
});

verifies('E6 E8', 'a line that is not JSON gets an error response, and later lines are handled', async ({ open }) => {
  const { peer } = await open();
  const lines = ['nonsense', '{', '}', '{"type":"abort",}', "{'type':'abort'}", '{"type":"abort"', 'undefined', '"'];

  for (const line of lines) {
    const responses = await responsesTo(peer, [line, '{"id":"next","type":"get_last_assistant_text"}']);

    expect(responses).toEqual([
      {
        type: 'response',
        command: 'parse',
        success: false,
        error: expect.stringMatching(/^Failed to parse command: ./),
        code: 'invalid_json',
      },
      expect.objectContaining({ id: 'next', success: true }),
    ]);
  }
});

verifies('E7', 'a parse error carries the id of its line where it can be read', async ({ open }) => {
  const { peer } = await open();
  const cases: [string, unknown][] = [
    ['{"id":"a","type":"prompt","message":"b', 'a'],
    ['{"id": 5, "type" "abort"}', 5],
    ['{"id":-1.5e3,', -1500],
    ['{"type":"abort","id":null,}', null],
    ['{"type":"abort","id":true;}', true],
    ['{"type":"abort" , "id" : "q\\"uo\\u0041" }}', 'q"uoA'],
    ['{"images":[{"id":"inner"}],"id":"outer","type":abort}', 'outer'],
  ];

  const responses = await responsesTo(
    peer,
    cases.map(([line]) => line),
  );

  expect(responses.map(({ command }) => command)).toEqual(cases.map(() => 'parse'));
  expect(responses.map(({ id }) => id)).toEqual(cases.map(([, id]) => id));
});

verifies('E7', 'a parse error never carries an id from elsewhere in the line', async ({ open }) => {
  const { peer } = await open();
  const lines = [
    'nonsense',
    '{"id":}',
    '{"id"',
    '{"id":"unfinished',
    '{"id":{"a":1},',
    '{"type":"prompt","message":"\\"id\\":1",}',
    '{"type":"prompt","message":"{\\"id\\":\\"x\\"}",}',
    '{"type":"set_todos","phases":[{"id":"inner","name":"n"',
    '{"type":"x","ids":1,"my id":2,"id2":3,}',
  ];

  const responses = await responsesTo(peer, lines);

  expect(responses.map((response) => Object.hasOwn(response, 'id'))).toEqual(lines.map(() => false));
});

/** Lines and commands that fail in different ways on an idle or running agent. */
const failing = [
  'broken',
  'null',
  '{"type":"nothing"}',
  '{"type":"prompt"}',
  '{"type":"prompt","message":""}',
  '{"type":"set_model","provider":"a","modelId":"b"}',
  '{"type":"switch_session","sessionPath":"/nowhere/at/all.jsonl"}',
  '{"type":"switch_session","sessionPath":"\\u0000"}',
  '{"type":"fork","entryId":"nobody","detached":true}',
  '{"type":"remove_queued","queueId":"nobody"}',
  '{"type":"edit_queued","queueId":"nobody","message":"a"}',
  '{"type":"set_session_name","name":" \\n "}',
  '{"type":"get_entries","since":"nobody"}',
  '{"type":"set_host_tools","tools":[{"name":" ","description":"a","parameters":{}}]}',
];

it('[E8 E9] failed commands never end the agent', async () => {
  const agent = await openOn('stdio');
  const { peer, process } = agent;

  for (let round = 0; round < 20; round++) {
    for (const line of failing) peer.send(`${line}\n`);
  }
  await peer.run('say hello');
  const failures = () => peer.records.filter(({ success }) => success === false).length;
  // Reads may be answered after the commands that follow them.
  await expect.poll(failures).toBe(20 * failing.length);
  await agent.close();

  expect(process?.stderr()).toBe('');
  expect((await process?.exited)?.code).toBe(0);
});

verifies('E9', 'failed commands do not disturb a run', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ text: 'so ' }, { await: gate.path }, { text: 'good' }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  const responses = await responsesTo(peer, failing);
  gate.open();
  const settled = await peer.next('agent_settled');

  expect(responses.filter(({ success }) => success)).toEqual([]);
  expect(settled).toMatchObject({ outcome: 'ok' });
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'so good' });
});

verifies('E1 E10', 'every error response has a code of the closed set and a text', async ({ open }) => {
  const gate = newGate();
  const { peer, home } = await open({ script: [{ steps: [{ text: 'a' }, { await: gate.path }] }] });
  const other = await open({ home });
  const memory = await openOn('memory', { args: ['--no-session'] });
  const { sessionFile } = await other.peer.ok({ type: 'get_state' });
  writeFileSync(join(home.cwd, 'notes.txt'), 'no session\n');
  await peer.ok({ type: 'prompt', message: 'go' });

  const refusals: Record<string, WireRecord> = {
    invalid_json: (await responsesTo(peer, ['{']))[0] as WireRecord,
    invalid_params: await peer.refused({ type: 'prompt' }),
    unknown_command: await peer.refused({ type: 'nothing' }),
    not_supported: await memory.peer.refused({ type: 'export_html' }),
    model_not_found: await peer.refused({ type: 'set_model', provider: 'a', modelId: 'b' }),
    agent_busy: await peer.refused({ type: 'prompt', message: 'too early' }),
    not_found: await peer.refused({ type: 'remove_queued', queueId: 'nobody' }),
    session_not_found: await peer.refused({ type: 'switch_session', sessionPath: 'nowhere.jsonl' }),
    not_a_session: await peer.refused({ type: 'switch_session', sessionPath: 'notes.txt' }),
    session_in_use: await peer.refused({ type: 'switch_session', sessionPath: sessionFile }),
  };

  const codes = Object.entries(refusals).map(([expected, { code }]) => [expected, code]);
  expect(codes).toEqual(Object.keys(refusals).map((code) => [code, code]));
  for (const { code, error } of Object.values(refusals)) {
    expect(errorCodes).toContain(code);
    expect(error).toMatch(/\w+ \w+/);
  }
});

verifies('E11', 'the error names a field that is missing or of the wrong type', async ({ open }) => {
  const { peer } = await open();
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };

  const texts = await responsesTo(
    peer,
    [
      { type: 'prompt' },
      { type: 'prompt', message: 5 },
      { type: 'prompt', message: null },
      { type: 'prompt', message: 'a', images: [image, { ...image, data: '' }] },
      { type: 'set_steering_mode', mode: 'some' },
      { type: 'get_entries', limit: -1 },
      { type: 'get_entries', limit: 1.5 },
      { type: 'hello', client: { version: '1' } },
      { type: 'set_host_tools', tools: [{ name: 'a', description: 1, parameters: {} }] },
    ].map((command) => JSON.stringify(command)),
  );

  expect(texts.map(({ code, error }) => `${code}: ${error}`)).toEqual([
    'invalid_params: Invalid parameters: message is required',
    'invalid_params: Invalid parameters: message must be a string',
    'invalid_params: Invalid parameters: message must be a string',
    'invalid_params: Invalid parameters: images[1].data must not be empty',
    'invalid_params: Invalid parameters: mode must be one of "all", "one-at-a-time"',
    'invalid_params: Invalid parameters: limit must be at least 0',
    'invalid_params: Invalid parameters: limit must be a whole number',
    'invalid_params: Invalid parameters: client.name is required',
    'invalid_params: Invalid parameters: tools[0].description must be a string',
  ]);
});

verifies(
  'E12',
  'a command that is not supported here fails with not_supported',
  async ({ open }) => {
    const { peer } = await open({ args: ['--no-session'] });

    expect(await peer.refused({ id: 'x', type: 'export_html' })).toEqual({
      id: 'x',
      type: 'response',
      command: 'export_html',
      success: false,
      error: 'Cannot export in-memory session to HTML',
      code: 'not_supported',
    });
  },
  LOCAL_TRANSPORTS,
);

verifies('E9 E13', 'an unexpected failure gets code internal and does not end the agent', async ({ open }) => {
  const { peer, sessionFiles } = await open();
  await peer.greeted();
  const folder = dirname(sessionFiles()[0] ?? '');
  renameSync(folder, `${folder}-moved`);
  writeFileSync(folder, 'a file where the sessions were');

  const refusal = await peer.refused({ id: 'n', type: 'new_session' });
  rmSync(folder);
  renameSync(`${folder}-moved`, folder);

  expect(refusal).toEqual({
    id: 'n',
    type: 'response',
    command: 'new_session',
    success: false,
    error: expect.stringMatching(/\w/),
    code: 'internal',
  });
  await peer.ok({ type: 'new_session' });
});
