import type { IncomingMessage } from 'node:http';
import { isObject } from '../../protocol/json.ts';
import { connectionFailure } from '../http/error-response.ts';
import { post } from '../http/post.ts';
import { decodedBody } from '../http/response.ts';
import { ModelFailure } from '../request.ts';

// A server of tokens gets this long for its whole response.
const TOKEN_RESPONSE_MS = 30_000;
const TOKEN_CONNECT_MS = 10_000;
const MAX_TOKEN_RESPONSE_BYTES = 256 * 1024;

export interface TokenRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The fields of a form to post; without them the token is read with GET. */
  readonly form?: Readonly<Record<string, string>>;
}

/**
 * Requests a credential and returns the text of the response. Rejects with a `ModelFailure` that has the error code of
 * the server, but none of the values that were sent.
 */
export async function requestToken({ url, headers = {}, form }: TokenRequest): Promise<string> {
  const signal = AbortSignal.timeout(TOKEN_RESPONSE_MS);
  const formType = { 'content-type': 'application/x-www-form-urlencoded' };
  try {
    const response = await post({
      ...(form ? {} : { method: 'GET' }),
      url,
      headers: { accept: 'application/json', ...(form ? formType : {}), ...headers },
      body: form ? new URLSearchParams(form).toString() : '',
      connectMs: TOKEN_CONNECT_MS,
      signal,
    });
    const text = await readText(response);
    const { statusCode: status = 0 } = response;
    if (status >= 200 && status < 300) return text;
    const message = `${new URL(url).host} gave no token: ${status} ${errorCode(text)}`.trim();
    throw new ModelFailure(status >= 500 || status === 429 ? 'overloaded' : 'auth_failed', message, { status });
  } catch (error) {
    throw error instanceof ModelFailure ? error : connectionFailure(error, url);
  }
}

/** The same, with the fields of the JSON object that the server sent. */
export async function requestTokenFields(request: TokenRequest): Promise<Readonly<Record<string, unknown>>> {
  const fields = parseObject(await requestToken(request));
  if (!fields) throw new ModelFailure('auth_failed', `${new URL(request.url).host} sent no JSON object`);
  return fields;
}

async function readText(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of await decodedBody(response)) {
    pieces.push(piece);
    size += piece.length;
    if (size > MAX_TOKEN_RESPONSE_BYTES) break;
  }
  return Buffer.concat(pieces).toString();
}

// Descriptions may quote what was sent; codes do not.
function errorCode(text: string): string {
  const { error, Error: wrapped, code } = parseObject(text) ?? {};
  const value = isObject(wrapped) ? wrapped['Code'] : isObject(error) ? (error['status'] ?? error['code']) : error;
  const found = [value, code].find((one) => typeof one === 'string' && /^[\w.-]{1,80}$/.test(one));
  return typeof found === 'string' ? found : '';
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
