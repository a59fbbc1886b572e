import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { scriptedRequest } from '../scripted/testing/call.ts';
import { streamEvents } from './event-stream.ts';

const timeouts = { connectMs: 10_000, firstByteMs: 10_000, betweenMs: 10_000 };

/** The data of the events in a stream with this text. */
async function eventsOf(text: string): Promise<string[]> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoint = { baseUrl, apiKey: undefined, headers: {}, timeouts };
  const request = scriptedRequest();
  const found: string[] = [];
  const call = { endpoint, path: '/', headers: {}, body: {}, request, isDone: () => false };
  for await (const { data } of streamEvents(call)) found.push(data);
  return found;
}

it('the last event of a stream may lack its blank line', async () => {
  expect(await eventsOf('data: 1\n\ndata: 2\n')).toEqual(['1', '2']);
});

it('an event that is too long fails the request for good', async () => {
  await expect(eventsOf(`data: ${'x'.repeat(64 * 1024 * 1024)}`)).rejects.toMatchObject({
    code: 'model_error',
    message: expect.stringContaining('longer than'),
  });
});
