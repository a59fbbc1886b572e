import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectionFailure, errorText, readErrorResponse } from './error-response.ts';

interface TestResponse {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Cuts the connection after the body. */
  readonly isCut?: boolean;
}

/** The failure that such a response yields. */
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

describe('an error response', () => {
  it('yields its status and the message of the provider', async () => {
    const body = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });

    expect(await failure({ status: 529, body })).toMatchObject({
      code: 'overloaded',
      status: 529,
      message: '529 Overloaded (overloaded_error)',
    });
  });

  it('yields the retry delay of its headers', async () => {
    expect(await failure({ status: 429, headers: { 'retry-after': '7' } })).toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 7000,
    });
  });

  it('yields the retry delay of its body', async () => {
    const body = '{"error":{"code":429,"message":"Slow","details":[{"retryDelay": "1.5s"}]}}';

    expect(await failure({ status: 429, body })).toMatchObject({ retryAfterMs: 1500 });
  });

  it.each(['1e300', '99999999999999', '-1', 'soon', ''])(
    'about a plan with the reset time %j names no time',
    async (time) => {
      const body = '{"error":{"type":"usage_limit_reached","message":"Used up"}}';
      const { message } = await failure({ status: 429, body, headers: { 'x-codex-primary-reset-at': time } });

      expect(message).toMatch(/^429 .*The usage limit of the plan is reached$/);
    },
  );

  it('without a body yields the name of its status', async () => {
    expect(await failure({ status: 502 })).toMatchObject({ message: '502 Bad Gateway', code: 'model_error' });
  });

  it('with an HTML page yields its truncated text', async () => {
    const { message } = await failure({ status: 502, body: `<html>\n\n  ${'Bad '.repeat(1000)}</html>` });

    expect(message).toMatch(/^502 <html> Bad Bad /);
    expect(message).toHaveLength('502 '.length + 500 + '…'.length);
  });

  it('without an end is read up to the limit', async () => {
    const { message } = await failure({ status: 500, body: 'x'.repeat(300_000) });

    expect(message.length).toBeLessThan(600);
  });

  it('that is cut yields the part that has arrived', async () => {
    expect(await failure({ status: 500, body: 'half a wo', isCut: true })).toMatchObject({ message: '500 half a wo' });
  });
});

describe('a success that is not a stream', () => {
  it('yields the content that came instead', async () => {
    expect(await failure({ headers: { 'content-type': 'text/html' }, body: '<p>Sign in</p>' })).toMatchObject({
      message: 'Expected a stream of events, got text/html: <p>Sign in</p>',
      code: 'model_error',
    });
  });

  it('yields the error message if it has one', async () => {
    expect(await failure({ body: '{"error":"Rate limit reached"}' })).toMatchObject({
      message: 'Rate limit reached',
      code: 'rate_limited',
    });
  });
});

describe('the error text', () => {
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
  ])('of %j is %s', (value, expected) => {
    expect(errorText(value)).toBe(expected);
  });
});

describe('a connection failure', () => {
  it.each([
    [Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 'connect ECONNREFUSED'],
    [Object.assign(new Error('aborted'), { code: 'ECONNRESET' }), 'aborted (ECONNRESET)'],
    [new Error('socket hang up'), 'socket hang up'],
  ])('%s names the host', (error, expected) => {
    expect(connectionFailure(error, 'https://api.test:8443/v1?key=secret')).toMatchObject({
      code: 'connection_lost',
      message: `Connection error: ${expected} [api.test:8443]`,
    });
  });
});
