import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import { outline, type WireRecord } from '../../support/clients/peer.ts';
import { waitUntil } from '../../support/processes/processes.ts';
import { verifies } from '../../support/verifies.ts';

const call = (name: string, args: object, id?: string) => ({ toolCall: { name, arguments: args, ...(id && { id }) } });
const bash = (command: string, id?: string) => call('bash', { command }, id);
const waitFor = (path: string) => `while [ ! -e ${path} ]; do sleep 0.05; done`;

const ofType = (records: readonly WireRecord[], type: string) => records.filter((record) => record.type === type);

interface Result {
  toolCallId: string;
  isError: boolean;
  content: { type: string; text: string }[];
}

const resultsOf = (records: readonly WireRecord[]) =>
  ofType(records, 'turn_end').flatMap(({ toolResults }) => toolResults as Result[]);

const texts = (records: readonly WireRecord[]) => resultsOf(records).map(({ content }) => content[0]?.text);

verifies('T1 T2 T3 T4 T5 T6 T7', 'a tool publishes its start, its output so far and its end', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [bash(`echo one; ${waitFor(gate.path)}; echo two`, 'call_1'), { text: 'done' }],
  });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.find((record) => record.type === 'tool_execution_update' && JSON.stringify(record).includes('one\\n'));
  gate.open();

  await waitUntilSettled(peer);

  const args = { command: expect.stringContaining('echo one') };
  const named = { toolCallId: 'call_1', toolName: 'bash' };
  const text = (value: string) => [{ type: 'text', text: value }];
  const details = { truncation: null, fullOutputPath: null };
  const updates = ofType(peer.records, 'tool_execution_update');
  const shown = updates.map(({ partialResult }) => partialResult);
  expect(ofType(peer.records, 'tool_execution_start')).toEqual([{ type: 'tool_execution_start', ...named, args }]);
  for (const update of updates) {
    expect(update).toEqual({ type: 'tool_execution_update', ...named, args, partialResult: expect.anything() });
  }
  expect(shown).toContainEqual({ content: text('one\n'), details });
  expect(shown.at(-1)).toEqual({ content: text('one\ntwo\n'), details });
  expect(ofType(peer.records, 'tool_execution_end')).toEqual([
    {
      type: 'tool_execution_end',
      ...named,
      result: { content: text('one\ntwo\n') },
      isError: false,
      durationMs: expect.any(Number),
    },
  ]);
  const toolCallMessage = ofType(peer.records, 'turn_end')[0]?.['message'];
  expect(toolCallMessage).toMatchObject({ content: [{ type: 'toolCall', id: 'call_1', name: 'bash' }] });
  expect(resultsOf(peer.records)).toEqual([
    {
      role: 'toolResult',
      ...named,
      content: text('one\ntwo\n'),
      isError: false,
      timestamp: expect.any(Number),
      durationMs: expect.any(Number),
    },
  ]);
});

verifies('T3 T7', 'the first update of bash is empty', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [bash(waitFor(gate.path)), { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'work' });

  const update = await peer.next('tool_execution_update');

  expect(update.partialResult).toEqual({ content: [], details: { truncation: null, fullOutputPath: null } });
  gate.open();
  await waitUntilSettled(peer);
});

verifies('T10 T11 T6', 'tool_execution_end comes as tools finish, results come in call order', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ steps: [bash(`${waitFor(gate.path)}; echo a`, 'a'), bash('echo b', 'b')] }, { text: 'done' }],
  });
  await peer.ok({ type: 'prompt', message: 'work' });
  const first = await peer.next('tool_execution_end');
  gate.open();

  await waitUntilSettled(peer);

  expect(first).toMatchObject({ toolCallId: 'b', result: { content: [{ text: 'b\n' }] } });
  const records = peer.records.filter(({ type }) => /^(tool_execution_(start|end)|turn_end)$|^message_end$/.test(type));
  const ids = records.map(({ type, toolCallId, message }) => {
    const { role, toolCallId: result } = (message ?? {}) as { role?: string; toolCallId?: string };
    return [type, toolCallId ?? result ?? role].filter(Boolean).join(' ');
  });
  expect(ids).toEqual([
    'message_end user',
    'message_end assistant',
    'tool_execution_start a',
    'tool_execution_start b',
    'tool_execution_end b',
    'tool_execution_end a',
    'message_end a',
    'message_end b',
    'turn_end assistant',
    'message_end assistant',
    'turn_end assistant',
  ]);
  expect(texts(peer.records)).toEqual(['a\n', 'b\n']);
});

verifies('T11', 'a call that fails at once does not overtake earlier results', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [bash('echo a', 'a'), call('fly', {}, 'b')] }, { text: 'done' }] });

  const records = await peer.run('work');

  const messages = outline(records.filter(({ type }) => type !== 'tool_execution_update'));
  expect(messages.slice(messages.indexOf('tool_execution_start'))).toEqual([
    'tool_execution_start',
    'tool_execution_start',
    'tool_execution_end',
    'tool_execution_end',
    'message_start',
    'message_end',
    'message_start',
    'message_end',
    'turn_end',
    'turn_start',
    ...messages.slice(messages.lastIndexOf('turn_start') + 1),
  ]);
  expect(ofType(records, 'tool_execution_end').map(({ toolCallId }) => toolCallId)).toEqual(['b', 'a']);
  expect(texts(records)).toEqual(['a\n', 'Tool fly not found']);
});

const failures: readonly (readonly [object, RegExp])[] = [
  [call('read', { path: 'missing.txt' }), /^ENOENT: no such file or directory/],
  [call('write', { path: 'a.txt/b', content: '' }), /EEXIST|ENOTDIR/],
  [bash('echo out; exit 3'), /^out\n\n\nCommand exited with code 3$/],
  [bash('no-such-command'), /\n\nCommand exited with code 127$/],
  [call('bash', { command: 'sleep 1000', timeout: 0.1 }), /^Command timed out after 0.1 seconds$/],
  [call('fly', { to: 'the moon' }), /^Tool fly not found$/],
  [call('read', {}), /^Validation failed for tool "read":\n {2}- path: is required\n\nReceived arguments:\n\{\}$/],
  [call('bash', { command: ['ls'] }), /^Validation failed for tool "bash":\n {2}- command: must be a string\n\n/],
  [
    { toolCall: { name: 'write', rawArguments: '{"path": "a' } },
    /^Validation failed for tool "write":\n {2}- path: is required\n\nReceived arguments:\n\{\}$/,
  ],
  [{ toolCall: { name: 'write', rawArguments: '[1]' } }, /^Validation failed for tool "write"/],
];

verifies('T12 T13 T14 T17', 'a call that fails gives an error result, and the run continues', async ({ open }) => {
  const { peer, home } = await open({ script: [...failures.map(([step]) => step), { text: 'I see.' }] });
  writeFileSync(join(home.cwd, 'a.txt'), 'a');

  const records = await peer.run('work');

  const ends = ofType(records, 'tool_execution_end');
  const results = resultsOf(records);
  expect(results).toHaveLength(failures.length);
  for (const [index, [, text]] of failures.entries()) {
    const [end, result] = [ends[index], results[index]];
    expect(result).toMatchObject({ isError: true, toolCallId: end?.['toolCallId'] });
    expect(result?.content[0]?.text).toMatch(text);
    expect(end).toMatchObject({ isError: true, result: { content: result?.content } });
  }
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  expect(assistantTexts(records).at(-1)).toBe('I see.');
});

verifies('T14', 'a call with invalid arguments does not run', async ({ open }) => {
  const { peer, home } = await open({
    script: [call('bash', { command: 'touch ran', timeout: 'soon' }), { text: 'I see.' }],
  });

  const records = await peer.run('work');

  expect(resultsOf(records)).toMatchObject([{ isError: true }]);
  expect(ofType(records, 'tool_execution_update')).toEqual([]);
  expect(existsSync(join(home.cwd, 'ran'))).toBe(false);
});

verifies('T1 T14', 'tool_execution_start carries the arguments as the model wrote them', async ({ open }) => {
  const args = { path: 7, nested: { list: [1, null, 'x'] } };
  const { peer } = await open({ script: [call('read', args), { text: 'I see.' }] });

  const records = await peer.run('work');

  expect(ofType(records, 'tool_execution_start')).toMatchObject([{ args }]);
});

verifies('T15', 'the model has read, write and bash', async ({ open }) => {
  const { peer, home } = await open({
    script: [
      call('write', { path: 'notes/a.txt', content: 'hello' }),
      call('read', { path: 'notes/a.txt' }),
      bash('cat notes/a.txt; pwd -P'),
      { text: 'done' },
    ],
  });

  const records = await peer.run('work');

  expect(readFileSync(join(home.cwd, 'notes/a.txt'), 'utf8')).toBe('hello');
  expect(texts(records)).toEqual(['Successfully wrote 5 bytes to notes/a.txt', 'hello', `hello${home.cwd}\n`]);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ activeTools: ['read', 'bash', 'edit', 'write'] });
});

verifies('T4 T27', 'a background process that keeps its output open does not delay the result', async ({ open }) => {
  const gate = newGate();
  const { peer, home } = await open({
    script: [bash(`(${waitFor(gate.path)}; echo late; touch ended) & echo started`), { text: 'done' }],
  });

  const records = await peer.run('work');

  expect(resultsOf(records)).toMatchObject([{ isError: false, content: [{ text: 'started\n' }] }]);
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  gate.open();
  await waitUntil(async () => existsSync(join(home.cwd, 'ended')));
});

verifies('T3 T5', 'tool output may contain any character', async ({ open }) => {
  const { peer } = await open({ script: [bash(`printf 'a\\u2028b \\xff \\033[1m \\\\n "q" 🙂'`), { text: 'done' }] });

  const records = await peer.run('work');

  expect(texts(records)).toEqual(['a\u2028b \uFFFD \u001b[1m \\n "q" 🙂']);
});
