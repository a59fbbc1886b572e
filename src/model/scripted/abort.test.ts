import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { callModel } from '../call-model.ts';
import { assistantMessage, callToEnd, freeUsage, scripted, scriptedRequest } from './testing/call.ts';

const stopped = { stopReason: 'aborted', errorMessage: 'Request was aborted' } as const;

test.each([
  ['a delay', { delayMs: 1_000_000 }],
  ['a stall', { stall: true }],
  ['a file that never comes', { await: '/nowhere/at/all' }],
  ['a delay before a chunk', { text: 'more', delayMs: 1_000_000 }],
])('%s ends when the signal aborts', async (_name, step) => {
  const controller = new AbortController();
  const request = scriptedRequest({ signal: controller.signal });
  const response = callModel(scripted({ steps: [{ text: 'So far' }, step] }), request);
  let end: unknown;

  for await (const event of response.events) {
    if (event.type === 'text_delta' && event.delta === 'far') setImmediate(() => controller.abort());
    if (event.type === 'end') end = event.message;
  }

  const content = [{ type: 'text' as const, text: 'So far' }];
  expect(end).toEqual({
    ...assistantMessage({ ...stopped, content, usage: freeUsage(0, 2) }),
    timestamp: expect.any(Number),
  });
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('a signal that has already aborted prevents all output', async () => {
  const { message } = await callToEnd(scripted({ text: 'Hello' }), scriptedRequest({ signal: AbortSignal.abort() }));

  expect(message).toEqual(assistantMessage(stopped));
});

test('a million deltas stop when the consumer aborts', async () => {
  const controller = new AbortController();
  const request = scriptedRequest({ signal: controller.signal });
  let deltas = 0;
  let end: unknown;

  for await (const event of callModel(scripted({ text: 'abcd', times: 1_000_000 }), request).events) {
    if (event.type === 'text_delta') deltas += 1;
    if (deltas === 5_000) controller.abort();
    if (event.type === 'end') end = event.message;
  }

  const content = [{ type: 'text' as const, text: 'abcd'.repeat(5_000) }];
  expect(deltas).toBe(5_000);
  expect(end).toEqual({
    ...assistantMessage({ ...stopped, content, usage: freeUsage(0, 5_000) }),
    timestamp: expect.any(Number),
  });
});

test('a million deltas stop when a timer aborts', async () => {
  const controller = new AbortController();
  const response = callToEnd(
    scripted({ text: 'abcd', times: 1_000_000 }),
    scriptedRequest({ signal: controller.signal }),
  );

  setImmediate(() => controller.abort());

  const { message, events } = await response;
  expect(message).toMatchObject(stopped);
  expect(events.length).toBeLessThan(10_000);
});
