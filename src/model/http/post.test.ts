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

it('sends the body with its length in bytes and the headers', async () => {
  const url = await serve(async (request, response) => {
    const { method, headers } = request;
    response.end(JSON.stringify([method, headers['x-own'], headers['content-length'], await textOf(request)]));
  });

  const response = await postTo(url, { headers: { 'x-own': 'yes' }, body: '{"a":"ä"}' });

  expect(JSON.parse(await textOf(response))).toEqual(['POST', 'yes', '10', '{"a":"ä"}']);
});

it('answers as soon as the server has begun to', async () => {
  const url = await serve((_request, response) => void response.writeHead(200).flushHeaders());

  const response = await postTo(url);

  expect(response.statusCode).toBe(200);
  response.destroy();
});

it('uses a connection again, and another one where the server had closed that', async () => {
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

it('a server that hangs up on a new connection is not asked twice', async () => {
  let requests = 0;
  const url = await serve((request) => {
    requests++;
    request.socket.resetAndDestroy();
  });

  await expect(postTo(url)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(requests).toBe(1);
});

it('a connection that is not made in time is given up', async () => {
  // It takes the connection and says nothing: the two never come to terms about TLS.
  const host = await startServer(createSocketServer((socket) => void onTestFinished(() => void socket.destroy())));

  await expect(postTo(`https://${host}/v1`, { connectMs: 50 })).rejects.toMatchObject({
    code: 'stalled',
    message: `Could not connect to ${host} within 50 ms`,
  });
});

it('an address where nobody listens refuses', async () => {
  const server = createSocketServer();
  const host = await startServer(server);
  server.close();
  await once(server, 'close');

  await expect(postTo(`http://${host}/v1`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('an abort ends the request', async () => {
  const stop = new AbortController();
  const url = await serve(() => stop.abort());

  await expect(postTo(url, { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' });
});
