import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { ask } from '../stream.ts';
import { answerOf, hear, question, scripted, usageOf } from './testing/rehearse.ts';

const stopped = { stopReason: 'aborted', errorMessage: 'Request was aborted' } as const;

test.each([
  ['a delay', { delayMs: 1_000_000 }],
  ['a stall', { stall: true }],
  ['a file that never comes', { await: '/nowhere/at/all' }],
  ['a delay before a chunk', { text: 'more', delayMs: 1_000_000 }],
])('%s ends when the signal aborts', async (_name, step) => {
  const controller = new AbortController();
  const request = question({ signal: controller.signal });
  const answer = ask(scripted({ steps: [{ text: 'So far' }, step] }), request);
  let end: unknown;

  for await (const event of answer.events) {
    if (event.type === 'text_delta' && event.delta === 'far') setImmediate(() => controller.abort());
    if (event.type === 'end') end = event.message;
  }

  const content = [{ type: 'text' as const, text: 'So far' }];
  expect(end).toEqual({ ...answerOf({ ...stopped, content, usage: usageOf(0, 2) }), timestamp: expect.any(Number) });
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('a signal that has aborted lets nothing be said', async () => {
  const { message } = await hear(scripted({ text: 'Hello' }), question({ signal: AbortSignal.abort() }));

  expect(message).toEqual(answerOf(stopped));
});

test('a million deltas end in the middle when the reader aborts', async () => {
  const controller = new AbortController();
  const request = question({ signal: controller.signal });
  let seen = 0;
  let end: unknown;

  for await (const event of ask(scripted({ text: 'abcd', times: 1_000_000 }), request).events) {
    if (event.type === 'text_delta') seen += 1;
    if (seen === 5_000) controller.abort();
    if (event.type === 'end') end = event.message;
  }

  const content = [{ type: 'text' as const, text: 'abcd'.repeat(5_000) }];
  expect(seen).toBe(5_000);
  expect(end).toEqual({
    ...answerOf({ ...stopped, content, usage: usageOf(0, 5_000) }),
    timestamp: expect.any(Number),
  });
});

test('a million deltas end in the middle when somebody else aborts', async () => {
  const controller = new AbortController();
  const answer = hear(scripted({ text: 'abcd', times: 1_000_000 }), question({ signal: controller.signal }));

  setImmediate(() => controller.abort());

  const { message, events } = await answer;
  expect(message).toMatchObject(stopped);
  expect(events.length).toBeLessThan(10_000);
});
