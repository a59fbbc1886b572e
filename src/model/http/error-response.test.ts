import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectionFailure, errorText, readErrorResponse } from './error-response.ts';

interface TestResponse {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Breaks the connection after the body. */
  readonly isCut?: boolean;
}

/** What a response of this kind comes to. */
async function failure({ status = 200, headers = {}, body = '', isCut = false }: TestResponse) {
  const server = createServer((_request, response) => {
    response.writeHead(status, headers);
    if (isCut) response.write(body, () => response.destroy());
    else response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const request = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return readErrorResponse(response);
}

describe('a refusal', () => {
  it('says its status and the words of the provider', async () => {
    const body = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });

    expect(await failure({ status: 529, body })).toMatchObject({
      code: 'overloaded',
      status: 529,
      message: '529 Overloaded (overloaded_error)',
    });
  });

  it('says how long the server wants to be left alone', async () => {
    expect(await failure({ status: 429, headers: { 'retry-after': '7' } })).toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 7000,
    });
  });

  it('says so too where the body does', async () => {
    const body = '{"error":{"code":429,"message":"Slow","details":[{"retryDelay": "1.5s"}]}}';

    expect(await failure({ status: 429, body })).toMatchObject({ retryAfterMs: 1500 });
  });

  it('without a word has the name of its status', async () => {
    expect(await failure({ status: 502 })).toMatchObject({ message: '502 Bad Gateway', code: 'model_error' });
  });

  it('by a page is told in a few words', async () => {
    const { message } = await failure({ status: 502, body: `<html>\n\n  ${'Bad '.repeat(1000)}</html>` });

    expect(message).toMatch(/^502 <html> Bad Bad /);
    expect(message).toHaveLength('502 '.length + 500 + '…'.length);
  });

  it('that never ends is read no further than it may be long', async () => {
    const { message } = await failure({ status: 500, body: 'x'.repeat(300_000) });

    expect(message.length).toBeLessThan(600);
  });

  it('that is cut says what it has said so far', async () => {
    expect(await failure({ status: 500, body: 'half a wo', isCut: true })).toMatchObject({ message: '500 half a wo' });
  });
});

describe('a success that is no stream', () => {
  it('says what came instead', async () => {
    expect(await failure({ headers: { 'content-type': 'text/html' }, body: '<p>Sign in</p>' })).toMatchObject({
      message: 'Expected a stream of events, got text/html: <p>Sign in</p>',
      code: 'model_error',
    });
  });

  it('says the error, where it is one', async () => {
    expect(await failure({ body: '{"error":"Rate limit reached"}' })).toMatchObject({
      message: 'Rate limit reached',
      code: 'rate_limited',
    });
  });
});

describe('the words of an error', () => {
  it.each([
    [{ error: 'plain' }, 'plain'],
    [{ error: { message: 'no', type: 'x_error' } }, 'no (x_error)'],
    [{ error: { message: 'no', code: 'x_code', type: 'x_error' } }, 'no (x_code)'],
    [{ error: { message: 'no: x_error', type: 'x_error' } }, 'no: x_error'],
    [{ error: { message: 'no', code: 400, status: 'INVALID_ARGUMENT' } }, 'no (INVALID_ARGUMENT)'],
    [[{ error: { message: 'listed' } }], 'listed'],
    [{ message: 'bare' }, 'bare'],
    [{ error: {} }, undefined],
    [{ error: { message: '' } }, undefined],
    [{ error: null }, undefined],
    [[], undefined],
    [null, undefined],
    [7, undefined],
  ])('of %j are %s', (value, expected) => {
    expect(errorText(value)).toBe(expected);
  });
});

describe('a connection that broke', () => {
  it.each([
    [Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 'connect ECONNREFUSED'],
    [Object.assign(new Error('aborted'), { code: 'ECONNRESET' }), 'aborted (ECONNRESET)'],
    [new Error('socket hang up'), 'socket hang up'],
  ])('%s says where', (error, expected) => {
    expect(connectionFailure(error, 'https://api.test:8443/v1?key=secret')).toMatchObject({
      code: 'connection_lost',
      message: `Connection error: ${expected} [api.test:8443]`,
    });
  });
});
