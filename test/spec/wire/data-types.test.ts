import { expect } from 'vitest';
import { NO_RETRY, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { entry, header, shortConversation, storeSession, userEntry } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const image = { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' };
const milliseconds = expect.toSatisfy((time: number) => Number.isInteger(time) && time > 1.6e12 && time < 1e13, 'ms');

verifies('D1 D2 D3', 'a model has the fields of both documents', async ({ open }) => {
  const { peer } = await open({ args: ['--model', 'tau/scripted'] });

  const { model } = await peer.ok({ type: 'get_state' });

  expect(model).toEqual({
    id: 'scripted',
    name: 'Scripted',
    api: 'tau-scripted',
    provider: 'tau',
    baseUrl: 'tau:scripted',
    reasoning: true,
    input: ['text', 'image'],
    contextWindow: 200_000,
    maxTokens: 32_000,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    supportsImages: true,
    supportsTools: true,
    thinking: true,
  });
});

verifies('D5 D6 D7 D17', 'a user message has role, content blocks and timestamp', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }] });

  await peer.run('plain');
  await peer.run({ message: 'look', images: [image] });

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect([messages[0], messages[2]]).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'plain' }], timestamp: milliseconds },
    { role: 'user', content: [{ type: 'text', text: 'look' }, image], timestamp: milliseconds },
  ]);
});

verifies('D8 D9 D10 D11 D12 D16 D17', 'assistant messages and tool results have all their fields', async ({ open }) => {
  const call = { id: 'call_1', name: 'bash', arguments: { command: 'echo hi' } };
  const { peer } = await open({
    script: [
      { steps: [{ thinking: 'hm' }, { text: 'Look: ' }, { toolCall: call }, { usage: { input: 9, output: 1 } }] },
      { steps: [{ text: 'done' }, { usage: { input: 9, output: 1 } }] },
    ],
  });

  await peer.run('go');

  const { messages } = await peer.ok({ type: 'get_messages' });
  const usage = {
    input: 9,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 10,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  const assistant = {
    role: 'assistant',
    api: 'tau-scripted',
    provider: 'tau',
    model: 'scripted',
    usage,
    timestamp: milliseconds,
    durationMs: expect.any(Number),
    thinkingLevel: expect.any(String),
  };
  const [, first, result, second] = messages;
  expect(first).toEqual({
    ...assistant,
    content: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'Look: ' },
      { type: 'toolCall', ...call },
    ],
    stopReason: 'toolUse',
  });
  expect(second).toEqual({ ...assistant, content: [{ type: 'text', text: 'done' }], stopReason: 'stop' });
  expect(result).toMatchObject({
    role: 'toolResult',
    toolCallId: 'call_1',
    toolName: 'bash',
    content: [{ type: 'text', text: 'hi\n' }],
    isError: false,
    timestamp: milliseconds,
    durationMs: expect.any(Number),
  });
});

verifies('D11', 'each of the five stop reasons is reported', async ({ open }) => {
  const { peer } = await open({
    settings: NO_RETRY,
    script: [
      { steps: [{ toolCall: { name: 'bash', arguments: { command: 'true' } } }] },
      { text: 'done' },
      { steps: [{ text: 'much' }, { stop: 'length' }] },
      { steps: [{ text: 'no' }, { cut: true }] },
      { steps: [{ text: 'wait' }, { stall: true }] },
    ],
  });
  await peer.run('a');
  await peer.run('b');
  await peer.run('c');
  await peer.ok({ type: 'prompt', message: 'd' });
  await peer.next((record) => record.type === 'message_update' && JSON.stringify(record).includes('wait'));
  await peer.ok({ type: 'abort' });

  const { messages } = await peer.ok({ type: 'get_messages' });

  const reasons = messages.flatMap(({ stopReason }: { stopReason?: string }) => stopReason ?? []);
  expect(reasons).toEqual(['toolUse', 'stop', 'length', 'error', 'aborted']);
});

verifies('D6 D7', 'stored attachments and plain text are returned unchanged', async ({ open }) => {
  const home = newHome();
  const attachment = {
    id: 'img1',
    type: 'image',
    fileName: 'photo.jpg',
    mimeType: 'image/jpeg',
    size: 102400,
    content: 'aGVsbG8=',
    extractedText: null,
    preview: null,
  };
  const message = { role: 'user', content: 'Hello!', timestamp: 1733234567890, attachments: [attachment] };
  const path = storeSession(home, [header(home.cwd), entry('message', 'aaaaaaaa', null, { message })]);
  const { peer } = await open({ home, args: ['--session', path], script: [{ text: 'one' }] });

  await peer.run('next');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[0]).toEqual(message);
  expect(messages.slice(1).filter((candidate: object) => 'attachments' in candidate)).toEqual([]);
  expect(readSessionFile(path)[1]).toEqual(entry('message', 'aaaaaaaa', null, { message }));
});

verifies('D13', 'a stored bash execution is returned unchanged', async ({ open }) => {
  const home = newHome();
  const execution = {
    role: 'bashExecution',
    command: 'ls -la',
    output: 'total 48\n',
    exitCode: 0,
    cancelled: false,
    truncated: false,
    fullOutputPath: null,
    timestamp: 1733234567890,
  };
  const path = storeSession(home, [
    ...shortConversation(home.cwd),
    entry('message', 'cccccccc', 'bbbbbbbb', { message: execution }),
  ]);
  const { peer } = await open({ home, args: ['--session', path], script: [{ text: 'one' }] });

  await peer.run('next');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[2]).toEqual(execution);
  expect(messages).toHaveLength(5);
});

verifies(
  'D15',
  'stored messages and blocks of other programs are in no list, no count and no event',
  async ({ open }) => {
    const home = newHome();
    const system = { role: 'system', content: 'You are pi.', timestamp: 1 };
    const blocks = [
      { type: 'tool_use', id: 'c1', name: 'bash', input: {} },
      { type: 'tool_result', tool_use_id: 'c1', content: 'You are pi.' },
    ];
    const lines = [
      header(home.cwd),
      entry('message', '00000001', null, { message: system }),
      userEntry('00000002', '00000001', 'first'),
      entry('message', '00000003', '00000002', { message: { role: 'tool', content: 'You are pi.', timestamp: 1 } }),
      entry('message', '00000004', '00000003', { message: { role: 'user', content: blocks, timestamp: 1 } }),
    ];
    const path = storeSession(home, lines);
    const { peer } = await open({ home, args: ['--session', path], script: [{ text: 'one' }] });

    const state = await peer.ok({ type: 'get_state' });
    const stats = await peer.ok({ type: 'get_session_stats' });
    await peer.run('second');
    const { messages } = await peer.ok({ type: 'get_messages' });

    const { sessions } = await peer.ok({ type: 'list_sessions' });

    expect(state).toMatchObject({ messageCount: 2 });
    expect(stats).toMatchObject({ totalMessages: 2, userMessages: 2 });
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'user', 'user', 'assistant']);
    expect(sessions).toMatchObject([{ messageCount: 4 }]);
    expect(JSON.stringify(peer.records)).not.toMatch(/You are pi|tool_use|tool_result/);
    expect(readSessionFile(path).slice(0, lines.length)).toEqual(lines);
  },
);
