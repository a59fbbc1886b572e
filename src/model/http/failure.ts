import type { IncomingMessage } from 'node:http';
import { failureOf } from '../failure.ts';
import { ModelFailure } from '../request.ts';
import { decoded } from './decoded.ts';
import { retryAfter } from './retry-after.ts';

/** How much of what a server says about a failure is read. */
const MAX_BODY = 64 * 1024;

/** What a response comes to that is no stream of events. */
export async function refusedBy(response: IncomingMessage): Promise<ModelFailure> {
  const { statusCode: status = 0, headers } = response;
  const body = await beginningOf(response);
  const retryAfterMs = retryAfter(headers) ?? delayIn(body);
  const said = wordsOf(body);
  if (status >= 200 && status < 300) {
    const type = headers['content-type'] ?? 'nothing';
    return failureOf({
      message: said.error ? said.text : `Expected a stream of events, got ${type}: ${said.text}`,
      status,
    });
  }
  const words = redirection(status, headers) ?? (said.text || response.statusMessage || 'Error');
  return failureOf({
    message: `${status} ${words}`,
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** A key goes where its owner sent it, nowhere else. */
const redirection = (status: number, { location }: IncomingMessage['headers']) =>
  status >= 300 && status < 400 && location
    ? `The server redirects to ${shortened(location)}, and tau does not follow: give its own address as baseUrl`
    : undefined;

/** Google says in the body how long it wants to be left alone. */
function delayIn(body: string): number | undefined {
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000);
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of await decoded(response)) {
      pieces.push(piece);
      size += piece.length;
      if (size >= MAX_BODY) break;
    }
  } catch (error) {
    // What has come so far says more than the break.
    if (size === 0) throw error;
  }
  return Buffer.concat(pieces).toString('utf8', 0, MAX_BODY);
}

/** The message of an error as the providers spell it, with its type; else the text itself, shortened. */
function wordsOf(body: string): { readonly text: string; readonly error: boolean } {
  const told = errorIn(body);
  if (told) return { text: told, error: true };
  const plain = body.replaceAll(/\s+/g, ' ').trim();
  return { text: shortened(plain), error: false };
}

const shortened = (text: string) => (text.length > 500 ? `${text.slice(0, 500)}…` : text);

function errorIn(body: string): string | undefined {
  try {
    return errorText(JSON.parse(body));
  } catch {
    return undefined;
  }
}

/** What an error object of a provider says; undefined where it says nothing. */
export function errorText(value: unknown): string | undefined {
  // Google wraps its error into a list where it would have streamed.
  const [outer] = Array.isArray(value) ? value : [value];
  const error = isObject(outer) && 'error' in outer ? outer['error'] : outer;
  if (typeof error === 'string') return error;
  if (!isObject(error)) return undefined;
  const { message } = error;
  if (typeof message !== 'string' || message === '') return undefined;
  const kind = [error['code'], error['type'], error['status']].find((word) => typeof word === 'string' && word !== '');
  return kind === undefined || message.includes(kind as string) ? message : `${message} (${kind})`;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** A connection that could not be made, or broke. */
export function brokenConnection(error: unknown, url: string): ModelFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  // A key with a line break in it, most of the time.
  if (code === 'ERR_INVALID_CHAR') return new ModelFailure('auth_failed', `The request cannot be sent: ${message}`);
  const what = code === undefined || message.includes(code) ? message : `${message} (${code})`;
  return new ModelFailure('connection_lost', `Connection error: ${what} [${new URL(url).host}]`);
}
