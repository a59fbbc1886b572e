import { expect } from 'vitest';
import { MAX_HOST_TOOLS } from '../../../src/extend/host-tools/definition.ts';
import { MAX_LINE_BYTES } from '../../../src/wire/json-lines.ts';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import {
  connectWhenListening,
  newHome,
  openTestAgent as openOn,
  readSessionFile,
} from '../../support/agent/test-agent.ts';
import { Peer, type WireRecord } from '../../support/clients/peer.ts';
import { startRawStdio, startRawUnixSocket } from '../../support/clients/raw-client.ts';
import {
  echoHostTool,
  hostTool,
  sendToolResult,
  setHostTools,
  textContent,
  toolCallStep,
  toolEnds,
  toolResultTexts,
} from '../../support/tools/host-tools.ts';
import { SINGLE_CLIENT_LIMITS, verifies } from '../../support/verifies.ts';

const DISCONNECTED_ERROR = 'RPC client disconnected before host tool execution completed';

const LONG = 4 * 1024 * 1024;

const call = (message = 'a', id?: string) => toolCallStep('echo_host', { message }, id);

verifies(
  'H2 H12 H13',
  'a rejected set_host_tools returns the reason and keeps the previous tools',
  async ({ open }) => {
    const { peer } = await open();
    await setHostTools(peer, hostTool('mine'));
    const before = await peer.ok({ type: 'get_state' });
    const noSchema = 'Host tool "x" must provide a JSON Schema object: ';
    const badName = 'must have a name of 1 to 64 letters, digits, _ and -';
    const rejections: [object[], string][] = [
      [[hostTool('x'), hostTool('  ')], 'Host tool at index 1 must provide a non-empty name'],
      [[hostTool('x', { description: ' \n' })], 'Host tool "x" must provide a non-empty description'],
      [[hostTool('x', { parameters: { type: 'array' } })], `${noSchema}parameters.type must be "object"`],
      [[hostTool('x', { parameters: { type: ['object'] } })], `${noSchema}parameters.type must be "object"`],
      [[hostTool('x', { parameters: { required: 1 } })], `${noSchema}parameters.required must be an array of names`],
      [[hostTool('x', { parameters: { $ref: '#/$defs/y' } })], `${noSchema}parameters.$ref names nothing: #/$defs/y`],
      [
        [hostTool('x', { parameters: { properties: { a: 5 } } })],
        `${noSchema}parameters.properties.a must be an object`,
      ],
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

    for (const [tools, error] of rejections) {
      expect(await peer.refused({ type: 'set_host_tools', tools })).toMatchObject({ error, code: 'invalid_params' });
    }

    expect(await peer.ok({ type: 'get_state' })).toEqual(before);
    expect(before.activeTools).toContain('mine');
  },
);

verifies('H1', 'a client may register the maximum of tools, under unusual names', async ({ open }) => {
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
  const sendStrayFrames = (id: unknown) => {
    sendToolResult(peer, { id }, 'stray');
    sendToolResult(peer, { id }, 'stray', { isError: true });
    peer.send({ type: 'host_tool_update', id, partialResult: { content: textContent('stray') } });
    peer.send({ type: 'host_tool_result', id, result: 'stray' });
  };
  for (const id of ['call_1', 'nobody', '', 5, null]) sendStrayFrames(id);
  await peer.ok({ type: 'prompt', message: 'go' });

  const first = await peer.next('host_tool_call');
  for (const id of ['call_1', 'nobody', first.id.toUpperCase()]) sendStrayFrames(id);
  sendToolResult(peer, first, 'one');
  sendStrayFrames(first.id);
  const second = await peer.next('host_tool_call');
  sendStrayFrames(first.id);
  sendToolResult(peer, second, 'two');
  await waitUntilSettled(peer);

  expect(toolResultTexts(peer.records)).toEqual(['one', 'two']);
  expect(JSON.stringify(peer.records)).not.toContain('stray');
});

/** Malformed results, and their error texts. */
const malformedResults: [string, (id: string) => object | string, string][] = [
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

verifies('H17', 'a malformed result fails its call with the reason', async ({ open }) => {
  const script = [{ steps: malformedResults.map(([name]) => call(name)) }, call('good'), { text: 'done' }];
  const { peer, process } = await open({ script });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'prompt', message: 'go' });

  for (const [, makeFrame] of malformedResults) peer.send(makeFrame((await peer.next('host_tool_call')).id));
  sendToolResult(peer, await peer.next('host_tool_call'), 'better');
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });

  const resultTexts = toolResultTexts(peer.records);
  const prefix = 'Host tool "echo_host" gave a result that cannot be used: ';
  expect(resultTexts.map((resultText) => resultText?.startsWith(prefix))).toEqual([
    ...malformedResults.map(() => true),
    false,
  ]);
  for (const [index, [, , problem]] of malformedResults.entries()) expect(resultTexts[index]).toContain(problem);
  expect(process?.stderr() ?? '').toBe('');
});

verifies(
  'H17',
  'a result over the line limit fails its call, a long one does not',
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

verifies('H9', 'unknown fields of a result are dropped', async ({ open }) => {
  const { peer } = await open({ script: [call(), { text: 'done' }] });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'prompt', message: 'go' });
  const withUnknownFields = {
    content: [
      { type: 'text', text: 'a', textSignature: 's', annotations: {} },
      { type: 'image', data: 'aGk=', mimeType: 'image/png', alt: 'x' },
    ],
    more: 1,
  };

  const { id } = await peer.next('host_tool_call');
  peer.send({ type: 'host_tool_update', id, partialResult: withUnknownFields, more: 1 });
  const { partialResult } = await peer.next('tool_execution_update');
  peer.send({ type: 'host_tool_result', id, result: withUnknownFields, more: 1 });
  const { result } = await peer.next('tool_execution_end');

  const plain = { content: [...textContent('a'), { type: 'image', data: 'aGk=', mimeType: 'image/png' }] };
  expect([partialResult, result]).toEqual([plain, plain]);
});

verifies('H8', 'of many updates the last is sent, and the call stays open', async ({ open }) => {
  const { peer } = await open({ script: [call(), { text: 'done' }] });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'prompt', message: 'go' });
  const toolCall = await peer.next('host_tool_call');
  const long = 'x'.repeat(100_000);

  for (let round = 0; round < 500; round++) {
    const partialResult = { content: textContent(`${round} ${round % 50 === 0 ? long : ''}`) };
    peer.send({ type: 'host_tool_update', id: toolCall.id, partialResult });
  }
  peer.send({ type: 'host_tool_update', id: toolCall.id, partialResult: { content: 'nonsense' } });
  await peer.find((record) => JSON.stringify(record).includes('"499 "'));
  sendToolResult(peer, toolCall, 'enough');
  await waitUntilSettled(peer);

  expect(toolResultTexts(peer.records)).toEqual(['enough']);
});

verifies(
  'H13 H16',
  'each client has its own tools and gets only their calls',
  async ({ open }) => {
    const { peer, join } = await open({
      script: [
        { steps: [toolCallStep('first', {}, 'call_1'), toolCallStep('second', {}, 'call_2')] },
        { text: 'done' },
      ],
    });
    const other = join?.() ?? peer;
    await setHostTools(peer, hostTool('first'));
    const conflict = await other.refused({ type: 'set_host_tools', tools: [hostTool('second'), hostTool('first')] });
    await setHostTools(other, hostTool('second'));
    await peer.ok({ type: 'prompt', message: 'go' });

    const [mine, theirs] = [await peer.next('host_tool_call'), await other.next('host_tool_call')];
    sendToolResult(other, mine, 'not mine to say');
    sendToolResult(peer, theirs, 'not mine to say');
    sendToolResult(other, theirs, 'two');
    await other.find('tool_execution_end');
    sendToolResult(peer, mine, 'one');
    await waitUntilSettled(peer);

    expect(conflict['error']).toBe('RPC host tool "first" conflicts with an existing tool');
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
  'when a client disconnects, its calls fail, and its tool names are free',
  async ({ open }) => {
    const { peer, join } = await open({
      script: [
        { steps: [toolCallStep('first'), toolCallStep('second')] },
        toolCallStep('second'),
        toolCallStep('second'),
        { text: 'done' },
      ],
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
    for (const resultText of ['two', 'three']) sendToolResult(peer, await peer.next('host_tool_call'), resultText);
    await waitUntilSettled(peer);

    expect(toolResultTexts(peer.records)).toEqual(['one', DISCONNECTED_ERROR, 'two', 'three']);
    expect((await peer.ok({ type: 'get_state' })).activeTools).toEqual(['first', 'second']);
  },
  ['memory'],
);

verifies(
  'H18',
  'after the end of input, open and later host tool calls fail, and the run ends',
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
      { toolCallId: 'call_2', isError: true, text: DISCONNECTED_ERROR },
      { toolCallId: 'call_3', isError: true, text: DISCONNECTED_ERROR },
    ]);
    expect(await exited).toBe(0);
    expect(stderr()).toBe('');
  },
  ['stdio'],
);

verifies(
  'H18',
  'a host tool call fails when the input ends right after the prompt',
  async () => {
    const { client, exited } = startRawStdio(newHome(), { script: [call(), { text: 'done' }] });

    client.write(`${JSON.stringify({ type: 'set_host_tools', tools: [echoHostTool] })}\n`);
    client.write('{"type":"prompt","message":"go"}\n');
    client.end();

    expect(toolEnds([await client.next('tool_execution_end')])).toMatchObject([
      { isError: true, text: DISCONNECTED_ERROR },
    ]);
    expect(await exited).toBe(0);
  },
  ['stdio'],
);

verifies(
  'H13 H18',
  'a closed socket fails its call; the next client can register the tool again',
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

    expect(messages[2]).toMatchObject({ role: 'toolResult', isError: true, content: textContent(DISCONNECTED_ERROR) });
    expect(toolResultTexts(peer.records)).toEqual(['here']);
    expect((await peer.ok({ type: 'get_state' })).activeTools).not.toContain('old');
  },
  ['unix'],
);

verifies(
  'H18 J11',
  'after kill -9 during a call the session is repaired, and the tool can be registered again',
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
    const results = readSessionFile(sessionFile).flatMap(({ message }) =>
      message?.role === 'toolResult' ? [message] : [],
    );
    expect(results.map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual([
      ['call_1', true],
      ['call_2', true],
      ['call_3', false],
    ]);
  },
  ['stdio'],
);
