import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { callModel } from '../call-model.ts';
import { assistantMessage, callToEnd, freeUsage, modelNamed, scripted, scriptedRequest } from './testing/call.ts';

const text = (content: string) => ({ type: 'text' as const, text: content });

test('text streams word by word', async () => {
  const { events, message } = await callToEnd(scripted({ text: 'Hello wide world' }));

  const expected = assistantMessage({ content: [text('Hello wide world')], usage: freeUsage(0, 4) });
  expect(message).toEqual(expected);
  expect(events.slice(0, -1)).toEqual([
    { type: 'text_start', contentIndex: 0 },
    { type: 'text_delta', contentIndex: 0, delta: 'Hello ' },
    { type: 'text_delta', contentIndex: 0, delta: 'wide ' },
    { type: 'text_delta', contentIndex: 0, delta: 'world' },
    { type: 'text_end', contentIndex: 0, content: 'Hello wide world' },
    { type: 'usage', usage: freeUsage(0, 4) },
  ]);
});

test('text streams in the requested number of chunks', async () => {
  const { events } = await callToEnd(scripted({ text: 'Hello', chunks: 2 }));

  expect(deltasIn(events)).toEqual(['He', 'llo']);
});

test('text is repeated, one delta each time', async () => {
  const { events, message } = await callToEnd(scripted({ text: 'abcd', times: 1000 }));

  expect(deltasIn(events)).toEqual(Array(1000).fill('abcd'));
  expect(message).toEqual(assistantMessage({ content: [text('abcd'.repeat(1000))], usage: freeUsage(0, 1000) }));
});

test('thinking, text and calls are separate blocks; consecutive texts are one block', async () => {
  const steps = [
    { thinking: 'Hm.' },
    { text: 'First ' },
    { delayMs: 0 },
    { text: 'this.' },
    { toolCall: { name: 'bash', arguments: { command: 'ls' }, id: 'call_1' } },
    { toolCall: { name: 'read', id: 'call_2' } },
  ];

  const { message } = await callToEnd(scripted({ steps }));

  expect(message).toEqual(
    assistantMessage({
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        text('First this.'),
        { type: 'toolCall', id: 'call_1', name: 'bash', arguments: { command: 'ls' } },
        { type: 'toolCall', id: 'call_2', name: 'read', arguments: {} },
      ],
      stopReason: 'toolUse',
      usage: freeUsage(0, 8),
    }),
  );
});

test('the arguments of a call stream in pieces', async () => {
  const { events } = await callToEnd(
    scripted({ toolCall: { name: 'read', arguments: { path: 'a' }, id: 'c' }, chunks: 3 }),
  );

  expect(events.slice(0, -2)).toEqual([
    { type: 'toolcall_start', contentIndex: 0, id: 'c', toolName: 'read' },
    { type: 'toolcall_delta', contentIndex: 0, delta: '{"pa' },
    { type: 'toolcall_delta', contentIndex: 0, delta: 'th":' },
    { type: 'toolcall_delta', contentIndex: 0, delta: '"a"}' },
    {
      type: 'toolcall_end',
      contentIndex: 0,
      toolCall: { type: 'toolCall', id: 'c', name: 'read', arguments: { path: 'a' } },
    },
  ]);
});

test('the last piece waits until a file exists', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tau-scripted-'));
  try {
    const path = join(folder, 'go');
    const call = { name: 'read', id: 'c', rawArguments: 'abc' };
    const events = callModel(scripted({ toolCall: call, chunks: 3, await: path }), scriptedRequest()).events[
      Symbol.asyncIterator
    ]();
    const received: unknown[] = [];
    await events.next();
    for (let count = 0; count < 3; count++) received.push((await events.next()).value);
    const last = events.next().then(({ value }) => received.push(value));
    await new Promise((resolve) => setImmediate(resolve));

    received.push('the file');
    await writeFile(path, '');
    await last;

    expect(received).toEqual([
      { type: 'toolcall_start', contentIndex: 0, id: 'c', toolName: 'read' },
      { type: 'toolcall_delta', contentIndex: 0, delta: 'a' },
      { type: 'toolcall_delta', contentIndex: 0, delta: 'b' },
      'the file',
      { type: 'toolcall_delta', contentIndex: 0, delta: 'c' },
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('raw arguments are sent unchanged', async () => {
  const { events, message } = await callToEnd(scripted({ toolCall: { name: 'read', id: 'c', rawArguments: '{bad' } }));

  expect(deltasIn(events)).toEqual(['{bad']);
  expect(message.content).toEqual([{ type: 'toolCall', id: 'c', name: 'read', arguments: {} }]);
});

test('omitted ids are generated and differ', async () => {
  const call = { toolCall: { name: 'read' } };

  const { message } = await callToEnd(scripted({ steps: Array(50).fill(call) }));

  const ids = message.content.map((block) => (block.type === 'toolCall' ? block.id : ''));
  expect(new Set(ids).size).toBe(50);
  for (const id of ids) expect(id).toMatch(/^call_[0-9a-f]+$/);
});

test('the usage of a script has the prices of the model', async () => {
  const cost = { input: 2, output: 10, cacheRead: 0.5, cacheWrite: 4 };
  const model = { ...modelNamed('scripted'), cost };
  const usage = { input: 1_000_000, output: 100_000, cacheWrite: 500_000 };

  const { message, events } = await callToEnd(scripted({ usage }), scriptedRequest({ model }));

  const expected = {
    ...usage,
    cacheRead: 0,
    totalTokens: 1_600_000,
    cost: { input: 2, output: 1, cacheRead: 0, cacheWrite: 2, total: 5 },
  };
  expect(message).toEqual(assistantMessage({ usage: expected }));
  expect(events[0]).toEqual({ type: 'usage', usage: expected });
});

test('the usage is estimated from the whole request', async () => {
  const { message: earlier } = await callToEnd(
    scripted({ steps: [{ thinking: 'abcd' }, { toolCall: { name: 'ab' } }] }),
  );
  const image = { type: 'image' as const, data: 'AAAA'.repeat(10_000), mimeType: 'image/png' };
  const request = scriptedRequest({
    systemPrompt: '12345678',
    messages: [
      { role: 'user', content: [text('1234'), image], timestamp: 0 },
      { ...earlier, timestamp: 0 },
      { role: 'toolResult', toolCallId: 'c', toolName: 'ab', content: [text('123')], isError: false, timestamp: 0 },
    ],
    tools: [{ name: 'ab', description: 'abcd', parameters: {} }],
  });

  const { message } = await callToEnd(scripted({ text: 'Hello' }), request);

  // 8 for the prompt, 4 + 4800 for the user, 4 + 4 for the assistant, 3 for the result, 8 for the tool.
  expect(message.usage).toEqual(freeUsage(1208, 2));
});

test('a stop reason is kept', async () => {
  const { message } = await callToEnd(scripted({ steps: [{ text: 'Hel' }, { stop: 'length' }] }));

  expect(message).toEqual(assistantMessage({ content: [text('Hel')], stopReason: 'length', usage: freeUsage(0, 1) }));
});

test.each([
  [{ error: { status: 401, message: 'No' } }, 'auth_failed', '401 No'],
  [{ error: { status: 403, message: 'No' } }, 'auth_failed', '403 No'],
  [{ error: { status: 429, message: 'Slow down' } }, 'rate_limited', '429 Slow down'],
  [{ error: { status: 503, message: 'Later' } }, 'overloaded', '503 Later'],
  [{ error: { status: 529 } }, 'overloaded', '529 Overloaded'],
  [{ error: { status: 418 } }, 'model_error', '418 Error'],
  [{ overflow: true }, 'context_overflow', '400 prompt is too long: the context window is exceeded'],
  [{ cut: true }, 'connection_lost', 'terminated'],
] as const)('%j fails', async (step, errorCode, errorMessage) => {
  const { message } = await callToEnd(scripted({ steps: [step, { text: 'never' }] }));

  expect(message).toEqual(assistantMessage({ stopReason: 'error', errorCode, errorMessage }));
});

test('a failure has the retry delay', async () => {
  const { failure } = await callToEnd(scripted({ error: { status: 429, retryAfterMs: 1500 } }));

  expect(failure).toMatchObject({ code: 'rate_limited', status: 429, retryAfterMs: 1500 });
});

test('content before a cut is kept and counted', async () => {
  const { message } = await callToEnd(scripted({ steps: [{ text: 'Half of it' }, { cut: true }] }));

  expect(message).toEqual(
    assistantMessage({
      content: [text('Half of it')],
      stopReason: 'error',
      errorCode: 'connection_lost',
      errorMessage: 'terminated',
      usage: freeUsage(0, 3),
    }),
  );
});

test('a response waits until a file exists', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tau-scripted-'));
  try {
    const provider = scripted({ steps: [{ text: 'Waiting.' }, { await: join(folder, 'go') }, { text: ' Done.' }] });
    const events = callModel(provider, scriptedRequest()).events[Symbol.asyncIterator]();
    for (let count = 0; count < 3; count++) await events.next();
    const next = events.next();

    await writeFile(join(folder, 'go'), '');

    expect(await next).toEqual({ value: { type: 'text_delta', contentIndex: 0, delta: ' Done.' }, done: false });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.each([
  ['a delay beside a text', 'scripted', { text: 'one two three', delayMs: 40 }, 40],
  ['the slow model', 'scripted-slow', { text: 'one two three' }, 25],
])('%s waits before each chunk', async (_name, id, step, ms) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let deltas = 0;
    const received = (async () => {
      for await (const event of callModel(scripted(step), scriptedRequest({ model: modelNamed(id) })).events) {
        if (event.type === 'text_delta') deltas += 1;
      }
    })();
    for (const expected of [0, 1, 2]) {
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(deltas).toBe(expected);
      await vi.advanceTimersByTimeAsync(1);
      expect(deltas).toBe(expected + 1);
    }
    await received;
  } finally {
    vi.useRealTimers();
  }
});

test('other work runs while a long response streams', async () => {
  let others = 0;
  const timer = setInterval(() => {
    others += 1;
  }, 0);
  let events = 0;
  for await (const _ of callModel(scripted({ text: 'a', times: 10_000_000 }), scriptedRequest()).events) {
    events += 1;
    if (others > 2) break;
  }
  clearInterval(timer);

  expect(events).toBeLessThan(10_000_000);
});

const deltasIn = (events: readonly object[]) => events.flatMap((event) => ('delta' in event ? [event.delta] : []));
