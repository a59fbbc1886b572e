import { ProtocolError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { ChangeStream } from './change-stream.ts';

type End = 'remote' | 'graceful';

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

const LONGEST_DELAY_MS = 5 * 60 * 1000;

/** A server whose streams a test ends; `failure` is thrown instead of opening one. */
function startStream({ failure }: { failure?: unknown } = {}) {
  const server = { opened: 0, reopened: 0, failure, end: (_end: End) => {} };
  const open = async () => {
    server.opened++;
    if (server.failure !== undefined) throw server.failure;
    const closed = new Promise<End>((resolve) => {
      server.end = resolve;
    });
    return { closed };
  };
  const stream = new ChangeStream({ open, onReopened: () => void server.reopened++ });
  onTestFinished(() => stream.close());
  return { server, stream };
}

it.each(['remote', 'graceful'] as const)('[N73] a stream is opened again after each %s end', async (end) => {
  const { server } = startStream();

  for (let count = 1; count <= 20; count++) {
    await vi.advanceTimersByTimeAsync(LONGEST_DELAY_MS);
    expect(server).toMatchObject({ opened: count, reopened: count - 1 });
    server.end(end);
  }
});

it('[N73] streams that do not last are opened ever later, and soon again after one that lasted', async () => {
  const { server } = startStream();
  for (let count = 0; count < 20; count++) {
    server.end('remote');
    await vi.advanceTimersByTimeAsync(LONGEST_DELAY_MS);
  }
  // The last one has lasted for less than a minute.
  server.end('remote');
  await vi.advanceTimersByTimeAsync(LONGEST_DELAY_MS);
  const { opened } = server;

  await vi.advanceTimersByTimeAsync(60_000);
  server.end('remote');
  await vi.advanceTimersByTimeAsync(5000);

  expect(server.opened).toBe(opened + 1);
});

it('[N73] a failed request for a stream is repeated', async () => {
  const { server } = startStream({ failure: new ProtocolError(-32603, 'busy') });
  await vi.advanceTimersByTimeAsync(LONGEST_DELAY_MS);
  const { opened } = server;

  server.failure = undefined;
  await vi.advanceTimersByTimeAsync(LONGEST_DELAY_MS);

  expect(opened).toBeGreaterThan(2);
  expect(server).toMatchObject({ opened: opened + 1, reopened: 1 });
});

const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32601, message: 'Method not found' } });

it.each([
  ['an error', new ProtocolError(-32601, 'Method not found')],
  [
    'an HTTP status',
    new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'not found', {
      status: 404,
      statusText: 'Not Found',
      text: body,
    }),
  ],
])('[N73] a stream that the server does not have, by %s, is requested once', async (_, failure) => {
  const { server } = startStream({ failure });

  await vi.advanceTimersByTimeAsync(LONGEST_DELAY_MS);

  expect(server.opened).toBe(1);
});

it('[N73] a closed connection ends the attempts', async () => {
  const { server, stream } = startStream();
  await vi.advanceTimersByTimeAsync(0);

  server.end('remote');
  await vi.advanceTimersByTimeAsync(0);
  stream.close();
  await vi.advanceTimersByTimeAsync(LONGEST_DELAY_MS);

  expect(server.opened).toBe(1);
});
