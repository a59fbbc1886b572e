import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { post } from './post.ts';

const NEVER = new AbortController().signal;

async function startServer(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serve(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  onTestFinished(() => server.closeAllConnections());
  return `http://${await startServer(server)}/v1`;
}

const postTo = (url: string, more: Partial<Parameters<typeof post>[0]> = {}) =>
  post({ url, headers: {}, body: '{}', connectMs: 5000, signal: NEVER, ...more });

async function textOf(response: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

it('a POST sends the body with its length in bytes and the headers', async () => {
  const url = await serve(async (request, response) => {
    const { method, headers } = request;
    response.end(JSON.stringify([method, headers['x-own'], headers['content-length'], await textOf(request)]));
  });

  const response = await postTo(url, { headers: { 'x-own': 'yes' }, body: '{"a":"ä"}' });

  expect(JSON.parse(await textOf(response))).toEqual(['POST', 'yes', '10', '{"a":"ä"}']);
});

it('a POST resolves as soon as the response begins', async () => {
  const url = await serve((_request, response) => void response.writeHead(200).flushHeaders());

  const response = await postTo(url);

  expect(response.statusCode).toBe(200);
  response.destroy();
});

it('a POST reuses a connection, and opens a new one if the server has closed it', async () => {
  const ports: (number | undefined)[] = [];
  let hangUp = false;
  const url = await serve((request, response) => {
    ports.push(request.socket.remotePort);
    if (!hangUp) response.end('fine');
    else {
      hangUp = false;
      request.socket.resetAndDestroy();
    }
  });

  for (let count = 0; count < 2; count++) expect(await textOf(await postTo(url))).toBe('fine');
  hangUp = true;
  expect(await textOf(await postTo(url))).toBe('fine');

  const [first, second, third, fourth] = ports;
  expect([second, third]).toEqual([first, first]);
  expect(fourth).not.toBe(first);
});

it('a POST is not repeated if the server closes a new connection', async () => {
  let requests = 0;
  const url = await serve((request) => {
    requests++;
    request.socket.resetAndDestroy();
  });

  await expect(postTo(url)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(requests).toBe(1);
});

it('[Y7] a connection attempt ends after the connect timeout', async () => {
  // The server accepts the connection but never completes the TLS handshake.
  const host = await startServer(createSocketServer((socket) => void onTestFinished(() => void socket.destroy())));

  await expect(postTo(`https://${host}/v1`, { connectMs: 50 })).rejects.toMatchObject({
    code: 'stalled',
    message: `Could not connect to ${host} within 50 ms`,
  });
});

it('an address without a server rejects the POST', async () => {
  const server = createSocketServer();
  const host = await startServer(server);
  server.close();
  await once(server, 'close');

  await expect(postTo(`http://${host}/v1`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('an abort ends the POST', async () => {
  const stop = new AbortController();
  const url = await serve(() => stop.abort());

  await expect(postTo(url, { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' });
});
