import type { IncomingMessage } from 'node:http';
import { classifyFailure } from '../classify-failure.ts';
import { ModelFailure } from '../request.ts';
import { decodedBody, retryAfter } from './response.ts';

// Bytes of an error response that are read.
const MAX_ERROR_BYTES = 64 * 1024;

/** Makes a failure of a response that is not a stream of events. */
export async function readErrorResponse(response: IncomingMessage): Promise<ModelFailure> {
  const { statusCode: status = 0, headers } = response;
  const body = await readBodyStart(response);
  const reopening = status === 429 ? planReopening(body, headers) : undefined;
  const retryAfterMs = reopening === undefined ? (retryAfter(headers) ?? retryDelayIn(body)) : undefined;
  const content = describeBody(body);
  if (status >= 200 && status < 300) {
    const type = headers['content-type'] ?? 'nothing';
    return classifyFailure({
      message: content.error ? content.text : `Expected a stream of events, got ${type}: ${content.text}`,
      status,
    });
  }
  const description = redirectMessage(status, headers) ?? (content.text || response.statusMessage || 'Error');
  return classifyFailure({
    message: `${status} ${description}${reopening === undefined ? '' : `. ${reopening}`}`,
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

// Redirects are not followed: a key goes only to the server that the user named.
const redirectMessage = (status: number, { location }: IncomingMessage['headers']) =>
  status >= 300 && status < 400 && location
    ? `The server redirects to ${truncated(location)}, and tau does not follow: give its own address as baseUrl`
    : undefined;

// Servers may send any number as a time.
const LAST_TIME = Date.UTC(9999, 11, 31);

/** The end of a used-up window of a plan: a retry before it is useless. */
function planReopening(body: string, headers: IncomingMessage['headers']): string | undefined {
  if (!/"usage_limit_reached"/.test(body)) return undefined;
  const at = Number(/"resets_at"\s*:\s*(\d{9,11})\b/.exec(body)?.[1] ?? headers['x-codex-primary-reset-at']);
  const seconds = Number(
    /"resets_in_seconds"\s*:\s*(\d{1,9})\b/.exec(body)?.[1] ?? headers['x-codex-primary-reset-after-seconds'],
  );
  const time = Number.isFinite(at) ? at * 1000 : Date.now() + seconds * 1000;
  if (!(time > 0 && time <= LAST_TIME)) return 'The usage limit of the plan is reached';
  return `The usage limit of the plan is reached until ${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

// Google puts the retry delay into the body.
function retryDelayIn(body: string): number | undefined {
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000);
}

async function readBodyStart(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of await decodedBody(response)) {
      pieces.push(piece);
      size += piece.length;
      if (size >= MAX_ERROR_BYTES) break;
    }
  } catch (error) {
    // The part received so far explains more than the lost connection.
    if (size === 0) throw error;
  }
  return Buffer.concat(pieces).toString('utf8', 0, MAX_ERROR_BYTES);
}

// Prefers the provider's error message with its type to the truncated text.
function describeBody(body: string): { readonly text: string; readonly error: boolean } {
  const message = errorTextIn(body);
  if (message) return { text: message, error: true };
  const plain = body.replaceAll(/\s+/g, ' ').trim();
  return { text: truncated(plain), error: false };
}

const truncated = (text: string) => (text.length > 500 ? `${text.slice(0, 500)}…` : text);

function errorTextIn(body: string): string | undefined {
  try {
    return errorText(JSON.parse(body));
  } catch {
    return undefined;
  }
}

/** The message in a provider's error object; undefined if it has none. */
export function errorText(value: unknown): string | undefined {
  // Google wraps the error into a list on its streaming route.
  const [outer] = Array.isArray(value) ? value : [value];
  const error = isObject(outer) ? (outer['error'] ?? outer) : outer;
  if (typeof error === 'string') return error;
  if (!isObject(error)) return undefined;
  const { message } = error;
  if (typeof message !== 'string' || message === '') return undefined;
  const kind = [error['code'], error['type'], error['status']].find(
    (field) => typeof field === 'string' && field !== '' && field !== 'error',
  );
  return kind === undefined || message.includes(kind as string) ? message : `${message} (${kind})`;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** A connection that failed to open or was lost. */
export function connectionFailure(error: unknown, url: string): ModelFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  // Usually a key that contains a line break.
  if (code === 'ERR_INVALID_CHAR') return new ModelFailure('auth_failed', `The request cannot be sent: ${message}`);
  const description = code === undefined || message.includes(code) ? message : `${message} (${code})`;
  return new ModelFailure('connection_lost', `Connection error: ${description} [${new URL(url).host}]`);
}
