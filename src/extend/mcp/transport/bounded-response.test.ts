import { afterEach, expect, it, vi } from 'vitest';
import { limitMessageSize } from './bounded-response.ts';

afterEach(() => void vi.useRealTimers());

const MINUTE_MS = 60_000;

/** A response that a test writes piece by piece; `write` resolves when the piece has been read. */
function openResponse(type: string) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const response = new Response(readable, { headers: { 'content-type': type } });
  const reader = limitMessageSize(response, () => {}).body?.getReader();
  const writer = writable.getWriter();
  const write = async (text: string) => {
    writer.write(Buffer.from(text)).catch(() => {});
    return reader?.read();
  };
  return { write };
}

it.each([
  ['events', ': x\n\n'.repeat(60_000), 1],
  ['long events whose lines end with CR', `: ${'x'.repeat(8 * 1024 * 1024)}\r\r`, 3],
  ['bytes', `: ${'x'.repeat(8 * 1024 * 1024)}\n\n`, 9],
])('[N67] a stream of events may last, with many %s in each minute', async (_, text, perMinute) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { write } = openResponse('text/event-stream');

  for (let minute = 0; minute < 3; minute++) {
    for (let count = 0; count < perMinute; count++) await expect(write(text)).resolves.toMatchObject({ done: false });
    vi.advanceTimersByTime(MINUTE_MS);
  }
});

it.each([
  ['events', ': x\n\n'.repeat(60_000), 2, '100000 events in one minute'],
  ['events whose lines end with CRLF', ': x\r\n\r\n'.repeat(60_000), 2, '100000 events in one minute'],
  ['bytes', `: ${'x'.repeat(8 * 1024 * 1024)}\n\n`, 16, '134217728 bytes in one minute'],
  ['bytes in one event', `: ${'x'.repeat(8 * 1024 * 1024)}`, 2, '16777216 bytes in one message'],
])('[N67] too many %s in one minute end a stream', async (_, text, pieces, limit) => {
  const { write } = openResponse('text/event-stream');

  for (let count = 1; count < pieces; count++) await write(text);

  await expect(write(text)).rejects.toThrow(`sent more than ${limit}`);
});

it('[N67] an ordinary response has one limit, however slow it is', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { write } = openResponse('application/json');

  await write(' '.repeat(16 * 1024 * 1024));
  vi.advanceTimersByTime(MINUTE_MS);

  await expect(write(' ')).rejects.toThrow('sent more than 16777216 bytes in one message');
});
