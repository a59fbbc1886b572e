import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { requestPinned } from './pinned-request.ts';

const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];

async function startEcho(): Promise<string> {
  const server = createServer(async (request, response) => {
    const { method, headers } = request;
    response.end(JSON.stringify([method, headers.host, headers['content-type'], await text(request)]));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `name.invalid:${(server.address() as AddressInfo).port}`;
}

it('[N63] a request goes to the given address, and its name is not resolved', async () => {
  const host = await startEcho();
  const request = new Request(`http://${host}/token`, { method: 'POST', body: new URLSearchParams({ code: 'ä' }) });

  const response = await requestPinned(request, LOOPBACK);

  const type = 'application/x-www-form-urlencoded;charset=UTF-8';
  expect(JSON.parse(await text(response))).toEqual(['POST', host, type, 'code=%C3%A4']);
});

it('an abort ends the request', async () => {
  const stop = new AbortController();
  const server = createServer(() => stop.abort()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  onTestFinished(() => server.closeAllConnections());
  const url = `http://name.invalid:${(server.address() as AddressInfo).port}/`;

  await expect(requestPinned(new Request(url, { signal: stop.signal }), LOOPBACK)).rejects.toThrow(/abort/);
});
