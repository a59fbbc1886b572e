import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { callModel } from './call-model.ts';
import { type Draft, noUsage } from './draft.ts';
import { ModelFailure, type Provider } from './request.ts';
import { assistantMessage, callToEnd, scriptedRequest } from './scripted/testing/call.ts';

const text = (content: string) => [{ type: 'text' as const, text: content }];
const stopped = { stopReason: 'aborted', errorMessage: 'Request was aborted' } as const;
const never = new Promise<never>(() => {});

/** Calls a model and aborts at the first step. */
async function callAndAbort(provider: Provider) {
  const controller = new AbortController();
  const events = [];
  for await (const event of callModel(provider, scriptedRequest({ signal: controller.signal })).events) {
    if (event.type === 'response') continue;
    if (events.push(event) === 1) controller.abort();
  }
  return { events, types: events.map(({ type }) => type), listeners: getEventListeners(controller.signal, 'abort') };
}

describe('a model response', () => {
  it('streams its steps and ends with the whole message', async () => {
    const usage = { ...noUsage(), input: 3, totalTokens: 3 };
    const { events, message } = await callToEnd(async function* (_request, draft) {
      yield* draft.text('one ');
      draft.usage = usage;
      yield { type: 'usage', usage };
      yield* draft.text('two');
    });

    expect(events.map(({ type }) => type)).toEqual([
      'text_start',
      'text_delta',
      'usage',
      'text_delta',
      'text_end',
      'end',
    ]);
    expect(message).toEqual(assistantMessage({ content: text('one two'), usage }));
  });

  it('has an opening whose timestamp the end repeats', async () => {
    const { opening, events } = callModel(async function* (_request, draft) {
      yield* draft.text('x');
    }, scriptedRequest());

    const all = [];
    for await (const event of events) all.push(event);

    expect(opening).toEqual({ ...assistantMessage({}), timestamp: opening.timestamp });
    expect(all.at(-1)).toMatchObject({ message: { timestamp: opening.timestamp } });
  });

  it('is empty if the provider ends without content', async () => {
    const { events, message } = await callToEnd(async function* () {});

    expect(events).toHaveLength(1);
    expect(message).toEqual(assistantMessage({}));
  });

  it('closes the blocks that the provider left open', async () => {
    const { events, message } = await callToEnd(async function* (_request, draft) {
      yield* draft.toolCall({ id: 'c', name: 'read' });
      yield* draft.toolArguments('{"path":"a"}');
    });

    const toolCall = { type: 'toolCall', id: 'c', name: 'read', arguments: { path: 'a' } };
    expect(events.at(-2)).toEqual({ type: 'toolcall_end', contentIndex: 0, toolCall });
    expect(message).toMatchObject({ content: [toolCall], stopReason: 'toolUse' });
  });
});

describe('the start of a response', () => {
  const typesOf = async (provider: Provider) => {
    const types: string[] = [];
    for await (const { type } of callModel(provider, scriptedRequest()).events) types.push(type);
    return types;
  };

  it('is reported as soon as the server responds, before the first step', async () => {
    let next = () => {};
    const provider: Provider = async function* ({ onOpen }, draft) {
      onOpen?.();
      await new Promise<void>((resolve) => {
        next = resolve;
      });
      yield* draft.text('x');
    };
    const events = callModel(provider, scriptedRequest()).events[Symbol.asyncIterator]();

    expect(await events.next()).toEqual({ value: { type: 'response' }, done: false });
    next();
    expect(await events.next()).toMatchObject({ value: { type: 'text_start' } });
  });

  it('is reported with the first step at the latest, and once', async () => {
    const types = await typesOf(async function* ({ onOpen }, draft) {
      yield* draft.text('x');
      onOpen?.();
    });

    expect(types).toEqual(['response', 'text_start', 'text_delta', 'text_end', 'end']);
  });

  it('is not reported if the request fails before', async () => {
    // biome-ignore lint/correctness/useYield: it throws at once
    const types = await typesOf(async function* () {
      throw new ModelFailure('overloaded', 'busy');
    });

    expect(types).toEqual(['end']);
  });
});

describe('a failing provider', () => {
  const refusal = new ModelFailure('overloaded', '529 busy', { status: 529, retryAfterMs: 7 });

  it.each<[string, Provider]>([
    [
      'at its first step',
      // biome-ignore lint/correctness/useYield: it throws at once
      async function* () {
        throw refusal;
      },
    ],
    [
      'when it is called',
      () => {
        throw refusal;
      },
    ],
    [
      'outside its generator',
      () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => {
            throw refusal;
          },
        }),
      }),
    ],
  ])('%s is reported by the end alone', async (_when, provider) => {
    const { events, message, failure } = await callToEnd(provider);

    expect(events).toHaveLength(1);
    expect(message).toEqual(
      assistantMessage({ stopReason: 'error', errorMessage: '529 busy', errorCode: 'overloaded' }),
    );
    expect(failure).toBe(refusal);
  });

  it('in mid-stream keeps the content so far in closed blocks', async () => {
    const { events, message } = await callToEnd(async function* (_request, draft) {
      yield* draft.thinking('hm');
      yield* draft.text('well, ');
      throw new ModelFailure('connection_lost', 'gone');
    });

    expect(events.slice(-2).map(({ type }) => type)).toEqual(['text_end', 'end']);
    expect(message).toEqual(
      assistantMessage({
        content: [{ type: 'thinking', thinking: 'hm' }, ...text('well, ')],
        stopReason: 'error',
        errorMessage: 'gone',
        errorCode: 'connection_lost',
      }),
    );
  });

  it.each([
    [new TypeError('x is not a function'), 'x is not a function'],
    ['a string', 'a string'],
    [undefined, 'undefined'],
  ])('with %s is an internal failure', async (thrown, errorMessage) => {
    const { message, failure } = await callToEnd(async function* (_request, draft) {
      yield* draft.text('a');
      throw thrown;
    });

    expect(message).toMatchObject({ stopReason: 'error', errorCode: 'internal', errorMessage });
    expect(failure).toMatchObject({ code: 'internal', message: errorMessage });
  });
});

describe('after an abort', () => {
  it('a provider that continues to stream is ignored', async () => {
    const { types, events, listeners } = await callAndAbort(async function* (_request, draft) {
      while (true) yield* draft.text('more ');
    });

    expect(types).toEqual(['text_start', 'text_end', 'end']);
    expect(events.at(-1)).toMatchObject({ message: { ...stopped, content: text('more ') } });
    expect(listeners).toEqual([]);
  });

  it('a stalled provider that ignores the signal is not waited for', async () => {
    const controller = new AbortController();
    const provider: Provider = async function* (_request, draft) {
      yield* draft.text('begun ');
      setImmediate(() => controller.abort());
      await never;
    };

    const { events, message } = await callToEnd(provider, scriptedRequest({ signal: controller.signal }));

    expect(events.map(({ type }) => type)).toEqual(['text_start', 'text_delta', 'text_end', 'end']);
    expect(message).toEqual(assistantMessage({ ...stopped, content: text('begun ') }));
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('a provider that never began to respond is not waited for', async () => {
    const controller = new AbortController();
    const call = callToEnd(
      async function* (_request, draft) {
        await never;
        yield* draft.text('x');
      },
      scriptedRequest({ signal: controller.signal }),
    );

    controller.abort();

    expect((await call).message).toEqual(assistantMessage(stopped));
  });

  it.each<[string, () => Promise<void>]>([
    ['never ends', () => never],
    ['fails', () => Promise.reject(new Error('while cleaning up'))],
  ])('a provider clean-up that %s changes nothing', async (_how, cleanUp) => {
    const { types, events } = await callAndAbort(async function* (_request, draft) {
      try {
        while (true) yield* draft.text('more ');
      } finally {
        await cleanUp();
      }
    });

    expect(types).toEqual(['text_start', 'text_end', 'end']);
    expect(events.at(-1)).toMatchObject({ message: stopped });
  });

  it('later writes to the draft do not change the message', async () => {
    let late: Draft | undefined;
    const { events } = await callAndAbort(async function* (_request, draft) {
      late = draft;
      yield* draft.text('begun ');
      await never;
    });

    late?.text('too late');
    late?.close();

    expect(events.at(-1)).toMatchObject({ message: { content: text('begun ') } });
  });

  it('a provider may still report the usage', async () => {
    const usage = { ...noUsage(), output: 5, totalTokens: 5 };
    const { events } = await callAndAbort(async function* (_request, draft) {
      try {
        while (true) yield* draft.text('more ');
      } finally {
        draft.usage = usage;
      }
    });

    expect(events.at(-1)).toMatchObject({ message: { ...stopped, usage } });
  });

  it('a failure that the abort caused counts as the abort', async () => {
    const controller = new AbortController();
    const { message, failure } = await callToEnd(
      async function* (_request, draft) {
        yield* draft.text('x');
        controller.abort();
        throw new ModelFailure('connection_lost', 'socket closed');
      },
      scriptedRequest({ signal: controller.signal }),
    );

    expect(message).toEqual(assistantMessage({ ...stopped, content: text('x') }));
    expect(failure).toBeUndefined();
  });

  it('no provider is called if the signal has aborted before', async () => {
    let wasCalled = false;
    const { message } = await callToEnd(
      async function* () {
        wasCalled = true;
        yield* [];
      },
      scriptedRequest({ signal: AbortSignal.abort() }),
    );

    expect([wasCalled, message]).toEqual([false, assistantMessage(stopped)]);
  });
});

it('a consumer that stops early lets the provider clean up', async () => {
  const log: string[] = [];
  const controller = new AbortController();
  const { events } = callModel(
    async function* (_request, draft) {
      try {
        while (true) yield* draft.text('more ');
      } finally {
        log.push('cleaned up');
      }
    },
    scriptedRequest({ signal: controller.signal }),
  );

  for await (const event of events) if (event.type === 'text_delta') break;

  expect(log).toEqual(['cleaned up']);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});
