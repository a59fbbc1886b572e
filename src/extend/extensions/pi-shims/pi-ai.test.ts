import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { completions } from '../../../../test/support/providers/completions.ts';
import { ProviderDouble } from '../../../../test/support/providers/provider-double.ts';
import { scriptedModels } from '../../../model/scripted/models.ts';
import type { AssistantMessageEvent, Model } from '../../../protocol/generated/vocabulary.ts';
import { AssistantMessageEventStream, EventStream } from './ai/event-stream.ts';
import { piAi } from './pi-ai.ts';

// biome-ignore lint/suspicious/noExplicitAny: extensions know the names by pi's types, which are not here
const ai = piAi({ agentDir: '/agent', shell: () => ({ cwd: '/', env: {}, family: 'test' }) }) as any;

const question = { messages: [{ role: 'user', content: 'say hello', timestamp: 1 }] };

/** A model with a server on this machine. */
async function local() {
  const server = await ProviderDouble.start(completions);
  const model: Model = { ...ai.getModel('openai', 'gpt-4o'), api: 'openai-completions', baseUrl: `${server.url}/` };
  return { server, model };
}

describe('a model call', () => {
  it('returns the whole assistant message', async () => {
    const { server, model } = await local();
    server.respondWith({ text: 'hello there', usage: { input: 1000, output: 500 } });

    const message = await ai.complete(
      model,
      { systemPrompt: 'be kind', ...question },
      { apiKey: 'the-key', maxTokens: 99 },
    );

    expect(message).toMatchObject({
      role: 'assistant',
      stopReason: 'stop',
      content: [{ type: 'text', text: 'hello there' }],
    });
    expect(message.usage).toMatchObject({ input: 1000, output: 500 });
    expect(server.requests[0]).toMatchObject({ headers: { authorization: 'Bearer the-key' } });
    expect(JSON.stringify(server.requests[0]?.body)).toContain('be kind');
  });

  it('streams events that carry the partial message', async () => {
    const { server, model } = await local();
    server.respondWith({
      thinking: 'hmm',
      text: 'hello',
      calls: [{ id: 'c1', name: 'look', arguments: { at: 'it' } }],
    });
    const events: string[] = [];

    const stream = ai.streamSimple(model, question, { apiKey: 'key' });
    for await (const event of stream as AsyncIterable<AssistantMessageEvent>) {
      const sizes =
        'partial' in event ? event.partial?.content.map((block) => JSON.stringify(block).length) : undefined;
      events.push(`${event.type} ${sizes?.length ?? 'end'}`);
    }

    expect([...new Set(events)]).toEqual([
      'start 0',
      'thinking_start 1',
      'thinking_delta 1',
      'thinking_end 1',
      'text_start 2',
      'text_delta 2',
      'text_end 2',
      'toolcall_start 3',
      'toolcall_delta 3',
      'toolcall_end 3',
      'done end',
    ]);
    expect(await stream.result()).toMatchObject({
      stopReason: 'toolUse',
      content: [{ thinking: 'hmm' }, { text: 'hello' }, { name: 'look', arguments: { at: 'it' } }],
    });
  });

  it('reports failures in the assistant message, without the API key', async () => {
    const { server, model } = await local();
    server.respondWith({ status: 401, message: 'bad key the-secret-key' });

    const refused = await ai.complete(model, question, { apiKey: 'the-secret-key' });
    const unknown = await ai.complete({ ...model, api: 'no-such-api' }, question, {});
    const stopped = await ai.complete(model, question, { apiKey: 'x', signal: AbortSignal.abort() });

    expect(refused).toMatchObject({ stopReason: 'error', errorMessage: expect.stringContaining('bad key …') });
    expect(unknown).toMatchObject({ stopReason: 'error', errorMessage: 'Unknown API kind: no-such-api' });
    expect(stopped).toMatchObject({ stopReason: 'aborted' });
  });

  it('reaches the built-in model', async () => {
    expect(await ai.completeSimple(scriptedModels[0], question)).toMatchObject({ stopReason: 'stop', provider: 'tau' });
  });
});

describe('an event stream', () => {
  const done = (message: object) => ({ type: 'done', reason: 'stop', message }) as AssistantMessageEvent;

  it('buffers events until they are read, and ends with its last event', async () => {
    const stream: AssistantMessageEventStream = ai.createAssistantMessageEventStream();
    const message = { role: 'assistant' };
    stream.push({ type: 'start' });
    stream.push(done(message));
    stream.push({ type: 'start' });

    const types: string[] = [];
    for await (const { type } of stream) types.push(type);

    expect(types).toEqual(['start', 'done']);
    expect(await stream.result()).toBe(message);
    expect(stream).toBeInstanceOf(AssistantMessageEventStream);
  });

  it('wakes all waiting readers', async () => {
    const stream = new EventStream<number>(
      (event) => event === 0,
      (event) => event,
    );
    const read = async () => {
      const events: number[] = [];
      for await (const event of stream) events.push(event);
      return events;
    };
    const readers = [read(), read()];
    await new Promise((resolve) => setImmediate(resolve));

    stream.push(1);
    stream.end(7);

    expect((await Promise.all(readers)).flat()).toEqual([1]);
    expect(await stream.result()).toBe(7);
  });

  it('rejects its result if it ends without one', async () => {
    const stream = new AssistantMessageEventStream();
    stream.end();

    await expect(stream.result()).rejects.toThrow('The stream ended without a result');
  });
});

describe("pi-ai's models", () => {
  it('are those of the catalogue', () => {
    const [provider = ''] = ai.getProviders();
    const [model] = ai.getModels(provider);

    expect(ai.getModel(provider, model.id)).toEqual(model);
    expect(ai.getModel('nobody', 'nothing')).toBeUndefined();
    expect(ai.modelsAreEqual(model, { ...model })).toBe(true);
    expect([ai.modelsAreEqual(model, null), ai.modelsAreEqual(undefined, undefined)]).toEqual([false, false]);
  });

  it('have a price', () => {
    const usage = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, cost: {} };

    ai.calculateCost({ cost: { input: 3, output: 1, cacheRead: 0, cacheWrite: 0 } }, usage);

    expect(usage.cost).toMatchObject({ input: 3, total: 3 });
  });

  it('report a context overflow', () => {
    const message = { stopReason: 'stop', usage: { input: 80, cacheRead: 30 } };

    expect(ai.isContextOverflow({ ...message, stopReason: 'error', errorMessage: 'prompt is too long' })).toBe(true);
    expect(ai.isContextOverflow({ ...message, stopReason: 'error', errorMessage: 'no' }, 100)).toBe(false);
    expect([ai.isContextOverflow(message), ai.isContextOverflow(message, 100)]).toEqual([false, true]);
  });
});

it('StringEnum fits into a TypeBox schema', () => {
  const schema = Type.Object({
    a: ai.StringEnum(['x', 'y'], { description: 'one' }),
    b: ai.Type.Optional(ai.StringEnum(['z'])),
  });

  expect(JSON.parse(JSON.stringify(schema))).toMatchObject({
    required: ['a'],
    properties: { a: { type: 'string', enum: ['x', 'y'], description: 'one' } },
  });
  expect([Check(schema, { a: 'x' }), Check(schema, { a: 'z' })]).toEqual([true, false]);
});

it('tool arguments are validated', () => {
  const tool = { name: 't', description: '', parameters: { type: 'object', properties: { n: { type: 'number' } } } };
  const call = (n: unknown) => ({ name: 't', arguments: { n } });

  expect(ai.validateToolCall([tool], call(1))).toEqual({ n: 1 });
  expect(() => ai.validateToolArguments(tool, call('x'))).toThrow('Validation failed for tool "t": n must be a number');
  expect(() => ai.validateToolCall([], call(1))).toThrow('Tool "t" not found');
});

it('the version is that of pi', () => {
  expect(ai.PI_AI_VERSION).toBe('1.5.0');
});

it('version 7 UUIDs begin with the time', () => {
  const before = Date.now();
  const id = ai.uuidv7();
  const after = Date.now();

  expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  const time = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
  expect([before <= time, time <= after]).toEqual([true, true]);
});
