import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { errorCodes } from '../../../src/protocol/errors.ts';
import { newGate, openTestAgent as openOn } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

/** Sends lines as they are and answers what they are answered with. */
async function answersTo(peer: Peer, lines: readonly string[]): Promise<WireRecord[]> {
  await peer.greeted();
  const from = peer.records.length;
  const last = `after ${from}`;
  peer.send(lines.map((line) => `${line}\n`).join(''));
  // It waits for every session command before it, and changes nothing.
  await peer.ok({ type: 'set_steering_mode', mode: 'one-at-a-time', id: last });
  return peer.records.slice(from).filter(({ type, id }) => type === 'response' && id !== last);
}

verifies('E1 E2 E5', 'a command that fails says so, with its id, its name and a text', async ({ open }) => {
  const { peer } = await open();

  const answer = await peer.request({ id: 'm', type: 'set_model', provider: 'nobody', modelId: 'nothing' });

  expect(answer).toEqual({
    id: 'm',
    type: 'response',
    command: 'set_model',
    success: false,
    error: 'Model not found: nobody/nothing',
    code: 'model_not_found',
  });
});

verifies('E2 E5', 'a command that fails after it had to wait has its own id and name too', async ({ open }) => {
  const { peer } = await open();

  const fork = { id: { n: 2 }, type: 'fork', entryId: 'none' };
  const [first, second] = await Promise.all([peer.request({ id: 1, type: 'clone' }), peer.request(fork)]);

  expect(first).toMatchObject({ id: 1, command: 'clone', success: true });
  expect(second).toMatchObject({ id: { n: 2 }, command: 'fork', success: false, code: 'not_found' });
});

verifies('E3 E4', 'an unknown command is answered with its id and its name', async ({ open }) => {
  const { peer } = await open();
  const types = ['get_nothing', 'PROMPT', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a"b\\c\n', '💥'];

  const answers = await answersTo(
    peer,
    types.map((type) => JSON.stringify({ type, id: [type] })),
  );

  expect(answers).toEqual(
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

verifies('E6 E8', 'a line that is not JSON is answered, and so are those after it', async ({ open }) => {
  const { peer } = await open();
  const lines = ['nonsense', '{', '}', '{"type":"abort",}', "{'type':'abort'}", '{"type":"abort"', 'undefined', '"'];

  for (const line of lines) {
    const answers = await answersTo(peer, [line, '{"id":"next","type":"get_last_assistant_text"}']);

    expect(answers).toEqual([
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

verifies('E7', 'a parse error has the id of its line where that can be seen', async ({ open }) => {
  const { peer } = await open();
  const seen: [string, unknown][] = [
    ['{"id":"a","type":"prompt","message":"b', 'a'],
    ['{"id": 5, "type" "abort"}', 5],
    ['{"id":-1.5e3,', -1500],
    ['{"type":"abort","id":null,}', null],
    ['{"type":"abort","id":true;}', true],
    ['{"type":"abort" , "id" : "q\\"uo\\u0041" }}', 'q"uoA'],
    ['{"images":[{"id":"inner"}],"id":"outer","type":abort}', 'outer'],
  ];

  const answers = await answersTo(
    peer,
    seen.map(([line]) => line),
  );

  expect(answers.map(({ command }) => command)).toEqual(seen.map(() => 'parse'));
  expect(answers.map(({ id }) => id)).toEqual(seen.map(([, id]) => id));
});

verifies('E7', 'a parse error has no id that belongs to something else', async ({ open }) => {
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

  const answers = await answersTo(peer, lines);

  expect(answers.map((answer) => Object.hasOwn(answer, 'id'))).toEqual(lines.map(() => false));
});

/** Commands and lines that fail, each in its own way, on an agent that is idle or at work. */
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

verifies('E8 E9', 'nothing that fails ends the agent', async ({ open, transport }) => {
  const agent = await open();
  const { peer, process } = agent;

  for (let round = 0; round < 20; round++) {
    for (const line of failing) peer.send(`${line}\n`);
  }
  await peer.run('say hello');
  await agent.close();

  const failures = peer.records.filter(({ success }) => success === false);
  expect(failures).toHaveLength(20 * failing.length);
  expect(process?.stderr() ?? '').toBe('');
  // On a socket only a signal ends it.
  expect((await process?.exited)?.code).toBe(
    { stdio: 0, unix: 143, memory: undefined, websocket: undefined }[transport],
  );
});

verifies('E9', 'nothing that fails disturbs a run', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ text: 'so ' }, { await: gate.path }, { text: 'good' }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  const answers = await answersTo(peer, failing);
  gate.open();
  const settled = await peer.next('agent_settled');

  expect(answers.filter(({ success }) => success)).toEqual([]);
  expect(settled).toMatchObject({ outcome: 'ok' });
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'so good' });
});

verifies('E1 E10', 'every refusal has a code of the closed set and a text', async ({ open }) => {
  const gate = newGate();
  const { peer, home } = await open({ script: [{ steps: [{ text: 'a' }, { await: gate.path }] }] });
  const other = await open({ home });
  const memory = await openOn('memory', { args: ['--no-session'] });
  const { sessionFile } = await other.peer.ok({ type: 'get_state' });
  writeFileSync(join(home.cwd, 'notes.txt'), 'no session\n');
  await peer.ok({ type: 'prompt', message: 'go' });

  const refusals: Record<string, WireRecord> = {
    invalid_json: (await answersTo(peer, ['{']))[0] as WireRecord,
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

verifies('E11', 'a field that is missing or of the wrong type is named', async ({ open }) => {
  const { peer } = await open();
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };

  const texts = await answersTo(
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
  'a command that makes no sense where it is sent says so',
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

verifies('E9 E13', 'what nobody foresaw is internal, and goes no further', async ({ open }) => {
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
