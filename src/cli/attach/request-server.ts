import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { request as requestTls } from 'node:https';
import { messageOf } from '../../protocol/errors.ts';
import type { ServerAddress } from './server-address.ts';

const SERVER_REQUEST_TIMEOUT_MS = 15_000;

// A machine that is off refuses nothing: with several addresses, the next one gets its turn after this time.
const FIND_SERVER_TIMEOUT_MS = 5000;

const MAX_SERVER_RESPONSE_CHARACTERS = 16 * 1024 * 1024;

interface OneAddress {
  readonly url: URL;
  readonly token: string | undefined;
}

/**
 * Returns the server with the first address that responds in front. Fails if none does, or if one rejects the token,
 * with advice for the user.
 */
export async function findServer({ urls, token }: ServerAddress): Promise<ServerAddress> {
  const failures: string[] = [];
  const timeoutMs = urls.length > 1 ? FIND_SERVER_TIMEOUT_MS : SERVER_REQUEST_TIMEOUT_MS;
  for (const [index, url] of urls.entries()) {
    try {
      await requestAddress({ url, token }, { path: 'api/me', timeoutMs });
      return { urls: [url, ...urls.slice(index + 1), ...urls.slice(0, index)], token };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      failures.push(error.message);
    }
  }
  throw new Error(failures.join('; '));
}

/** Sends an HTTP request to the first address of a server. Rejects with advice for the user, without the token. */
export const requestServer = ({ urls: [url], token }: ServerAddress, path: string): Promise<unknown> =>
  requestAddress({ url, token }, { path, timeoutMs: SERVER_REQUEST_TIMEOUT_MS });

/** The server does not respond, or cannot serve clients now. */
class Unreachable extends Error {}

async function requestAddress(address: OneAddress, request: { path: string; timeoutMs: number }): Promise<unknown> {
  const response = await fetchFrom(address, request).catch((error: unknown) => {
    throw new Unreachable(unreachableMessage(address, error));
  });
  const body = parseObject(response.body);
  if (response.status === 200 && body) return body;
  const message = httpError(address, response.status, body);
  throw response.status >= 500 ? new Unreachable(message) : new Error(message);
}

async function fetchFrom(
  { url, token }: OneAddress,
  { path, timeoutMs }: { path: string; timeoutMs: number },
): Promise<{ status: number; body: string }> {
  const [file, socketPath] = url.protocol === 'ws+unix:' ? url.pathname.split(':') : [undefined, url.pathname];
  const options: RequestOptions = {
    path: `${socketPath?.replace(/session$/, '')}${path}`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(timeoutMs),
    agent: false,
    ...(file === undefined
      ? { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: url.port }
      : { socketPath: decodeURIComponent(file) }),
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const call = (url.protocol === 'wss:' ? requestTls : request)(options, resolve);
    call.on('error', reject).end();
  });
  let body = '';
  for await (const text of response.setEncoding('utf8')) {
    body += text;
    if (body.length > MAX_SERVER_RESPONSE_CHARACTERS) throw new Error('its answer is too long');
  }
  return { status: response.statusCode ?? 0, body };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The name of the server in messages. */
function serverName({ url }: OneAddress): string {
  return url.protocol === 'ws+unix:' ? decodeURIComponent(url.pathname.split(':')[0] ?? '') : url.host;
}

function unreachableMessage(address: OneAddress, error: unknown): string {
  const name = serverName(address);
  const { code } = error as NodeJS.ErrnoException;
  const isFile = address.url.protocol === 'ws+unix:';
  if (isFile && (code === 'ENOENT' || code === 'ECONNREFUSED')) {
    return `No server listens on ${name}: start one with tau serve --socket ${name}`;
  }
  if (code === 'ECONNREFUSED') return `No server listens on ${name}`;
  if (code === 'ENOTFOUND') return `There is no host ${address.url.hostname}`;
  return `Cannot reach ${name}: ${code === 'ABORT_ERR' ? 'it does not answer' : messageOf(error)}`;
}

function httpError(address: OneAddress, status: number, body: Readonly<Record<string, unknown>> | undefined): string {
  if (status === 401 && address.token === undefined) {
    return 'The server wants a token: give it in PI_AUTH_TOKEN, or a file of it with --token-file';
  }
  if (status === 401) return 'Invalid authentication token';
  if (status === 404) return notFoundMessage(address);
  return typeof body?.['error'] === 'string' ? body['error'] : `${serverName(address)} is no tau server`;
}

function notFoundMessage(address: OneAddress): string {
  const name = serverName(address);
  return address.url.protocol === 'ws+unix:'
    ? `There is nothing at that path of ${name}: give the --base-path that its server was started with`
    : `There is nothing at that path of ${name}: the URL has to hold the base path of the server`;
}
