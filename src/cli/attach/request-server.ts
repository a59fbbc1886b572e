import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { request as requestTls } from 'node:https';
import { messageOf } from '../../protocol/errors.ts';
import type { ServerAddress } from './server-address.ts';

const SERVER_REQUEST_TIMEOUT_MS = 15_000;

const MAX_SERVER_RESPONSE_CHARACTERS = 16 * 1024 * 1024;

/** Sends an HTTP request to a server. Rejects with advice for the user, without the token. */
export async function requestServer(address: ServerAddress, path: string): Promise<unknown> {
  const response = await fetchFrom(address, path).catch((error: unknown) => {
    throw new Error(unreachableMessage(address, error));
  });
  const body = parseObject(response.body);
  if (response.status === 200 && body) return body;
  throw new Error(httpError(address, response.status, body));
}

async function fetchFrom({ url, token }: ServerAddress, path: string): Promise<{ status: number; body: string }> {
  const [file, socketPath] = url.protocol === 'ws+unix:' ? url.pathname.split(':') : [undefined, url.pathname];
  const options: RequestOptions = {
    path: `${socketPath?.replace(/session$/, '')}${path}`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(SERVER_REQUEST_TIMEOUT_MS),
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
function serverName({ url }: ServerAddress): string {
  return url.protocol === 'ws+unix:' ? decodeURIComponent(url.pathname.split(':')[0] ?? '') : url.host;
}

function unreachableMessage(address: ServerAddress, error: unknown): string {
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

function httpError(
  address: ServerAddress,
  status: number,
  body: Readonly<Record<string, unknown>> | undefined,
): string {
  if (status === 401 && address.token === undefined) {
    return 'The server wants a token: give it in PI_AUTH_TOKEN, or a file of it with --token-file';
  }
  if (status === 401) return 'Invalid authentication token';
  if (status === 404) return notFoundMessage(address);
  return typeof body?.['error'] === 'string' ? body['error'] : `${serverName(address)} is no tau server`;
}

function notFoundMessage(address: ServerAddress): string {
  const name = serverName(address);
  return address.url.protocol === 'ws+unix:'
    ? `There is nothing at that path of ${name}: give the --base-path that its server was started with`
    : `There is nothing at that path of ${name}: the URL has to hold the base path of the server`;
}
