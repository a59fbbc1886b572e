import { expect } from 'vitest';
import { MAX_HOST_TOOLS } from '../../../src/extend/host-tools/definition.ts';
import { MAX_LINE_BYTES } from '../../../src/wire/json-lines.ts';
import {
  sendToolResult,
  toolCallStep,
  echoHostTool,
  hostTool,
  setHostTools,
  textContent,
  toolEnds,
  toolResultTexts,
} from '../../support/tools/host-tools.ts';
import { connectWhenListening, newHome, openTestAgent as openOn, readSessionFile } from '../../support/agent/test-agent.ts';
import { Peer, type WireRecord } from '../../support/clients/peer.ts';
import { startRawStdio, startRawUnixSocket } from '../../support/clients/raw-client.ts';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { SINGLE_CLIENT_LIMITS, verifies } from '../../support/verifies.ts';

const GONE = 'RPC client disconnected before host tool execution completed';

const LONG = 4 * 1024 * 1024;

const call = (message = 'a', id?: string) => toolCallStep('echo_host', { message }, id);

verifies('H2 H12 H13', 'a set that is refused says why, and leaves the one before', async ({ open }) => {
  const { peer } = await open();
  await setHostTools(peer, hostTool('mine'));
  const before = await peer.ok({ type: 'get_state' });
  const noSchema = 'Host tool "x" must provide a JSON Schema object: ';
  const badName = 'must have a name of 1 to 64 letters, digits, _ and -';
  const refusals: [object[], string][] = [
    [[hostTool('x'), hostTool('  ')], 'Host tool at index 1 must provide a non-empty name'],
    [[hostTool('x', { description: ' \n' })], 'Host tool "x" must provide a non-empty description'],
    [[hostTool('x', { parameters: { type: 'array' } })], `${noSchema}parameters.type must be "object"`],
    [[hostTool('x', { parameters: { type: ['object'] } })], `${noSchema}parameters.type must be "object"`],
    [[hostTool('x', { parameters: { required: 1 } })], `${noSchema}parameters.required must be an array of names`],
    [[hostTool('x', { parameters: { $ref: '#/$defs/y' } })], `${noSchema}parameters.$ref names nothing: #/$defs/y`],
    [[hostTool('x', { parameters: { properties: { a: 5 } } })], `${noSchema}parameters.properties.a must be an object`],
    [[hostTool('x'), hostTool('y'), hostTool(' x ')], 'RPC host tool names must be unique'],
    [[hostTool('mine'), hostTool('bash')], 'RPC host tool "bash" conflicts with an existing tool'],
    [[hostTool('grep')], 'RPC host tool "grep" conflicts with an existing tool'],
    [[hostTool('two words')], `Host tool "two words" ${badName}`],
    [[hostTool('a.b')], `Host tool "a.b" ${badName}`],
    [[hostTool('größe')], `Host tool "größe" ${badName}`],
    [[hostTool('x'.repeat(65))], `Host tool "${'x'.repeat(65)}" ${badName}`],
    [
      Array.from({ length: MAX_HOST_TOOLS + 1 }, (_, index) => hostTool(`x${index}`)),
      `A client may run ${MAX_HOST_TOOLS} host tools, not ${MAX_HOST_TOOLS + 1}`,
    ],
    [[hostTool('x', { parameters: null })], 'Invalid parameters: tools[0].parameters must be an object'],
    [[hostTool('x', { timeoutMs: -1 })], 'Invalid parameters: tools[0].timeoutMs must be at least 0'],
  ];

  for (const [tools, error] of refusals) {
    expect(await peer.refused({ type: 'set_host_tools', tools })).toMatchObject({ error, code: 'invalid_params' });
  }

  expect(await peer.ok({ type: 'get_state' })).toEqual(before);
  expect(before.activeTools).toContain('mine');
});

verifies('H1', 'as many tools as a client may run, under the oddest names', async ({ open }) => {
  const { peer } = await open();
  const names = ['__proto__', 'constructor', '-', '0', 'x'.repeat(64)];
  const tools = Array.from({ length: MAX_HOST_TOOLS }, (_, index) => hostTool(names[index] ?? `x${index}`));

  const { toolNames } = await setHostTools(peer, ...tools);

  expect(toolNames).toHaveLength(MAX_HOST_TOOLS);
  expect((await peer.ok({ type: 'get_state' })).activeTools).toEqual(expect.arrayContaining(names));
});

verifies('H16', 'frames that belong to no open call are ignored', async ({ open }) => {
  const { peer } = await open({ script: [call('a', 'call_1'), call('b', 'call_2'), { text: 'done' }] });
  await setHostTools(peer, echoHostTool);
  const strays = (id: unknown) => {
    sendToolResult(peer, { id }, 'stray');
    sendToolResult(peer, { id }, 'stray', { isError: true });
    peer.send({ type: 'host_tool_update', id, partialResult: { content: textContent('stray') } });
    peer.send({ type: 'host_tool_result', id, result: 'stray' });
  };
  for (const id of ['call_1', 'nobody', '', 5, null]) strays(id);
  await peer.ok({ type: 'prompt', message: 'go' });

  const first = await peer.next('host_tool_call');
  for (const id of ['call_1', 'nobody', first.id.toUpperCase()]) strays(id);
  sendToolResult(peer, first, 'one');
  strays(first.id);
  const second = await peer.next('host_tool_call');
  strays(first.id);
  sendToolResult(peer, second, 'two');
  await waitUntilSettled(peer);

  expect(toolResultTexts(peer.records)).toEqual(['one', 'two']);
  expect(JSON.stringify(peer.records)).not.toContain('stray');
});

/** Results that make no sense, and what is said of them. */
const unusable: [string, (id: string) => object | string, string][] = [
  ['no result', (id) => ({ type: 'host_tool_result', id }), 'result is required'],
  ['text', (id) => ({ type: 'host_tool_result', id, result: 'done' }), 'result must be an object'],
  ['no content', (id) => ({ type: 'host_tool_result', id, result: {} }), 'result.content is required'],
  [
    'content that is text',
    (id) => ({ type: 'host_tool_result', id, result: { content: 'done' } }),
    'result.content must be an array',
  ],
  [
    'an unknown block',
    (id) => ({ type: 'host_tool_result', id, result: { content: [{ type: 'audio', data: 'x' }] } }),
    'result.content[0] has an unknown shape',
  ],
  [
    'a block without text',
    (id) => ({ type: 'host_tool_result', id, result: { content: [{ type: 'text' }] } }),
    'result.content[0].text is required',
  ],
  [
    'an image that is a page',
    (id) => ({
      type: 'host_tool_result',
      id,
      result: { content: [...textContent('look:'), { type: 'image', data: 'aGk=', mimeType: 'text/html' }] },
    }),
    'result.content[1] must be an image, not text/html',
  ],
  [
    'an error that is a word',
    (id) => ({ type: 'host_tool_result', id, result: { content: [] }, isError: 'yes' }),
    'isError must be true or false',
  ],
  ['half a line', (id) => `{"type":"host_tool_result","id":"${id}","result":{"content":[\n`, 'JSON'],
  [
    'details that are too deep',
    (id) =>
      `{"type":"host_tool_result","id":"${id}","result":{"content":[],"details":${'['.repeat(1001)}${']'.repeat(1001)}}}\n`,
    'nested deeper than 1000 levels',
  ],
];

verifies('H17', 'a result that makes no sense fails its call, and says what is wrong', async ({ open }) => {
  const script = [{ steps: unusable.map(([name]) => call(name)) }, call('good'), { text: 'done' }];
  const { peer, process } = await open({ script });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'prompt', message: 'go' });

  for (const [, make] of unusable) peer.send(make((await peer.next('host_tool_call')).id));
  sendToolResult(peer, await peer.next('host_tool_call'), 'better');
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });

  const told = toolResultTexts(peer.records);
  const said = 'Host tool "echo_host" gave a result that cannot be used: ';
  expect(told.map((words) => words?.startsWith(said))).toEqual([...unusable.map(() => true), false]);
  for (const [index, [, , problem]] of unusable.entries()) expect(told[index]).toContain(problem);
  expect(process?.stderr() ?? '').toBe('');
});

verifies(
  'H17',
  'a result longer than a line may be fails its call, a long one does not',
  async ({ open }) => {
    const { peer } = await open({ script: [call(), call(), { text: 'done' }] });
    await setHostTools(peer, echoHostTool);
    await peer.ok({ type: 'prompt', message: 'go' });
    const frame = (id: string, length: number) => {
      const [head, tail] = [
        `{"type":"host_tool_result","id":"${id}","result":{"content":[{"type":"text","text":"`,
        '"}]}}',
      ];
      return `${head}${'a'.repeat(length - head.length - tail.length)}${tail}\n`;
    };

    peer.send(frame((await peer.next('host_tool_call')).id, MAX_LINE_BYTES + 1));
    const second = await peer.next('host_tool_call');
    peer.send(frame(second.id, LONG));
    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });

    const [tooLong, whole] = toolResultTexts(peer.records);
    expect(tooLong).toContain(`a line of ${MAX_LINE_BYTES + 1} bytes is longer than the limit of ${MAX_LINE_BYTES}`);
    expect(whole?.length).toBeGreaterThan(LONG - 200);
  },
  SINGLE_CLIENT_LIMITS,
);

verifies('H9', 'what the protocol does not know is not passed on', async ({ open }) => {
  const { peer } = await open({ script: [call(), { text: 'done' }] });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'prompt', message: 'go' });
  const odd = {
    content: [
      { type: 'text', text: 'a', textSignature: 's', annotations: {} },
      { type: 'image', data: 'aGk=', mimeType: 'image/png', alt: 'x' },
    ],
    more: 1,
  };

  const { id } = await peer.next('host_tool_call');
  peer.send({ type: 'host_tool_update', id, partialResult: odd, more: 1 });
  const { partialResult } = await peer.next('tool_execution_update');
  peer.send({ type: 'host_tool_result', id, result: odd, more: 1 });
  const { result } = await peer.next('tool_execution_end');

  const plain = { content: [...textContent('a'), { type: 'image', data: 'aGk=', mimeType: 'image/png' }] };
  expect([partialResult, result]).toEqual([plain, plain]);
});

verifies('H8', 'of a flood of progress the last word is told, and the call goes on', async ({ open }) => {
  const { peer } = await open({ script: [call(), { text: 'done' }] });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'prompt', message: 'go' });
  const found = await peer.next('host_tool_call');
  const long = 'x'.repeat(100_000);

  for (let round = 0; round < 500; round++) {
    const partialResult = { content: textContent(`${round} ${round % 50 === 0 ? long : ''}`) };
    peer.send({ type: 'host_tool_update', id: found.id, partialResult });
  }
  peer.send({ type: 'host_tool_update', id: found.id, partialResult: { content: 'nonsense' } });
  await peer.find((record) => JSON.stringify(record).includes('"499 "'));
  sendToolResult(peer, found, 'enough');
  await waitUntilSettled(peer);

  expect(toolResultTexts(peer.records)).toEqual(['enough']);
});

verifies(
  'H13 H16',
  'clients beside one another have their own tools, and each is asked for its own',
  async ({ open }) => {
    const { peer, join } = await open({
      script: [{ steps: [toolCallStep('first', {}, 'call_1'), toolCallStep('second', {}, 'call_2')] }, { text: 'done' }],
    });
    const other = join?.() ?? peer;
    await setHostTools(peer, hostTool('first'));
    const clash = await other.refused({ type: 'set_host_tools', tools: [hostTool('second'), hostTool('first')] });
    await setHostTools(other, hostTool('second'));
    await peer.ok({ type: 'prompt', message: 'go' });

    const [mine, theirs] = [await peer.next('host_tool_call'), await other.next('host_tool_call')];
    sendToolResult(other, mine, 'not mine to say');
    sendToolResult(peer, theirs, 'not mine to say');
    sendToolResult(other, theirs, 'two');
    await other.find('tool_execution_end');
    sendToolResult(peer, mine, 'one');
    await waitUntilSettled(peer);

    expect(clash['error']).toBe('RPC host tool "first" conflicts with an existing tool');
    expect([mine.toolName, theirs.toolName]).toEqual(['first', 'second']);
    for (const { records } of [peer, other]) {
      expect(records.filter(({ type }) => type === 'host_tool_call')).toHaveLength(1);
      expect(toolResultTexts(records)).toEqual(['one', 'two']);
    }
  },
  ['memory'],
);

verifies(
  'H13 H18',
  'when one of two clients leaves, its calls fail, and its names can be taken over',
  async ({ open }) => {
    const { peer, join } = await open({
      script: [{ steps: [toolCallStep('first'), toolCallStep('second')] }, toolCallStep('second'), toolCallStep('second'), { text: 'done' }],
    });
    const other = join?.() ?? peer;
    await setHostTools(peer, hostTool('first'));
    await setHostTools(other, hostTool('second'), hostTool('third'));
    await peer.ok({ type: 'set_active_tools', tools: ['first', 'second'] });
    await peer.ok({ type: 'prompt', message: 'go' });
    const mine = await peer.next('host_tool_call');
    await other.next('host_tool_call');

    other.end();
    await peer.next(({ type, toolName }) => type === 'tool_execution_end' && toolName === 'second');
    await setHostTools(peer, hostTool('first'), hostTool('second', { hidden: true }));
    sendToolResult(peer, mine, 'one');
    for (const words of ['two', 'three']) sendToolResult(peer, await peer.next('host_tool_call'), words);
    await waitUntilSettled(peer);

    expect(toolResultTexts(peer.records)).toEqual(['one', GONE, 'two', 'three']);
    expect((await peer.ok({ type: 'get_state' })).activeTools).toEqual(['first', 'second']);
  },
  ['memory'],
);

verifies(
  'H18',
  'a host that closes its input is no longer asked: open calls and later ones fail, and the run ends',
  async () => {
    const script = [{ steps: [call('a', 'call_1'), call('b', 'call_2')] }, call('c', 'call_3'), { text: 'done' }];
    const { client, exited, stderr } = startRawStdio(newHome(), { script });
    client.write(`${JSON.stringify({ type: 'set_host_tools', tools: [echoHostTool] })}\n`);
    client.write('{"type":"prompt","message":"go"}\n');
    const { id } = await client.next('host_tool_call');
    await client.next('host_tool_call');

    client.write(`${JSON.stringify({ type: 'host_tool_result', id, result: { content: textContent('in time') } })}\n`);
    client.end();
    const ends: WireRecord[] = [];
    for (const _call of [1, 2, 3]) ends.push(await client.next('tool_execution_end'));

    expect(await client.next('agent_settled')).toMatchObject({ outcome: 'ok' });
    expect(toolEnds(ends)).toMatchObject([
      { toolCallId: 'call_1', isError: false, text: 'in time' },
      { toolCallId: 'call_2', isError: true, text: GONE },
      { toolCallId: 'call_3', isError: true, text: GONE },
    ]);
    expect(await exited).toBe(0);
    expect(stderr()).toBe('');
  },
  ['stdio'],
);

verifies(
  'H18',
  'tools and a prompt in one go, and then the end: nothing waits for a host that cannot answer',
  async () => {
    const { client, exited } = startRawStdio(newHome(), { script: [call(), { text: 'done' }] });

    client.write(`${JSON.stringify({ type: 'set_host_tools', tools: [echoHostTool] })}\n`);
    client.write('{"type":"prompt","message":"go"}\n');
    client.end();

    expect(toolEnds([await client.next('tool_execution_end')])).toMatchObject([{ isError: true, text: GONE }]);
    expect(await exited).toBe(0);
  },
  ['stdio'],
);

verifies(
  'H13 H18',
  'a socket that closes during a call fails it; whoever comes next registers the tool again and is asked',
  async () => {
    const { client, socket, path } = await startRawUnixSocket(newHome(), {
      script: [call(), { text: 'one' }, call('b'), { text: 'two' }],
    });
    client.write(`${JSON.stringify({ type: 'set_host_tools', tools: [echoHostTool, hostTool('old')] })}\n`);
    client.write('{"type":"prompt","message":"go"}\n');
    await client.next('host_tool_call');

    socket.destroy();
    const peer = new Peer(await connectWhenListening(path));
    await peer.ok({ type: 'wait_idle' });
    const { messages } = await peer.ok({ type: 'get_messages' });
    await setHostTools(peer, echoHostTool);
    await peer.ok({ type: 'prompt', message: 'again' });
    sendToolResult(peer, await peer.next('host_tool_call'), 'here');
    await waitUntilSettled(peer);

    expect(messages[2]).toMatchObject({ role: 'toolResult', isError: true, content: textContent(GONE) });
    expect(toolResultTexts(peer.records)).toEqual(['here']);
    expect((await peer.ok({ type: 'get_state' })).activeTools).not.toContain('old');
  },
  ['unix'],
);

verifies(
  'H18 J11',
  'after kill -9 in the middle of a call the session is mended, and the tool can be registered again',
  async () => {
    const home = newHome();
    const first = await openOn('stdio', { home, script: [{ steps: [call('a', 'call_1'), call('b', 'call_2')] }] });
    const { sessionFile } = await first.peer.ok({ type: 'get_state' });
    await setHostTools(first.peer, echoHostTool);
    await first.peer.ok({ type: 'prompt', message: 'go' });
    sendToolResult(first.peer, await first.peer.next('host_tool_call'), 'lost with the other');
    await first.peer.next('tool_execution_end');
    first.process?.kill('SIGKILL');
    await first.process?.exited;

    const second = await openOn('stdio', {
      home,
      args: ['--session', sessionFile],
      script: [call('c', 'call_3'), { text: 'done' }],
    });
    const repaired = await second.peer.find('session_repaired');
    await setHostTools(second.peer, echoHostTool);
    await second.peer.ok({ type: 'prompt', message: 'again' });
    sendToolResult(second.peer, await second.peer.next('host_tool_call'), 'found');
    await waitUntilSettled(second.peer);

    expect(repaired).toMatchObject({ toolCallIds: ['call_1', 'call_2'] });
    expect(assistantTexts(second.peer.records)).toEqual(['', 'done']);
    const results = readSessionFile(sessionFile).flatMap(({ message }) => (message?.role === 'toolResult' ? [message] : []));
    expect(results.map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual([
      ['call_1', true],
      ['call_2', true],
      ['call_3', false],
    ]);
  },
  ['stdio'],
);
