import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { messageOf } from '../../protocol/errors.ts';
import { ModelFailure } from '../request.ts';
import type { ProxyRoute } from './proxy.ts';

/** An HTTP request, a POST by default. */
export interface HttpPost {
  readonly method?: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connectMs: number;
  /** `new`: the request must not be repeated, and uses no kept connection. */
  readonly connection?: 'new';
  readonly signal: AbortSignal;
}

const httpAgent = new HttpAgent({ keepAlive: true });
const httpsAgent = new HttpsAgent({ keepAlive: true });

/** Resolves with the response as soon as its headers arrive. Rejects with a `ModelFailure` or the abort reason. */
export async function post(message: HttpPost): Promise<IncomingMessage> {
  const url = new URL(message.url);
  const proxy = await proxyFor(message.url);
  try {
    if (message.connection === 'new') return await send(message, url, proxy?.freshAgent() ?? false);
    return await send(message, url, proxy?.agent ?? (url.protocol === 'http:' ? httpAgent : httpsAgent)).catch(
      (error) => {
        // The server closed the kept connection before it received this request.
        if (!(error instanceof StaleConnection)) throw error;
        return send(message, url, proxy?.freshAgent() ?? false);
      },
    );
  } catch (error) {
    if (!proxy || message.signal.aborted || error instanceof ModelFailure) throw error;
    throw new Error(`${messageOf(error)}, through the proxy ${proxy.host}`, { cause: error });
  }
}

class StaleConnection extends Error {}

// A connection that breaks later than this has reached the server, and a repeated request may cost money twice.
const STALE_SOCKET_MS = 500;

function send(
  { method = 'POST', headers, body, connectMs, signal }: HttpPost,
  url: URL,
  agent: RequestOptions['agent'],
) {
  const startRequest = url.protocol === 'http:' ? httpRequest : httpsRequest;
  return new Promise<IncomingMessage>((resolve, reject) => {
    const request = startRequest(url, {
      method,
      headers: method === 'GET' ? headers : { ...headers, 'content-length': Buffer.byteLength(body) },
      agent,
    });
    // Closing a socket takes long: the events of the abort are sent before.
    const onAbort = () => void setImmediate(() => request.destroy(errorOf(signal.reason)));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    request.once('close', () => signal.removeEventListener('abort', onAbort));
    const startedAt = performance.now();
    const connectTimer = setTimeout(() => {
      request.destroy(new ModelFailure('stalled', `Could not connect to ${url.host} within ${connectMs} ms`));
    }, connectMs);
    request.once('socket', (socket) => {
      const connected = () => clearTimeout(connectTimer);
      if (!socket.connecting) connected();
      else socket.once(url.protocol === 'http:' ? 'connect' : 'secureConnect', connected);
    });
    request.once('response', resolve);
    request.once('error', (error) => {
      clearTimeout(connectTimer);
      const isStale = request.reusedSocket && isReset(error) && performance.now() - startedAt < STALE_SOCKET_MS;
      reject(isStale ? new StaleConnection() : error);
    });
    request.end(body);
  });
}

const errorOf = (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason)));

const isReset = ({ code }: NodeJS.ErrnoException) => code === 'ECONNRESET' || code === 'EPIPE';

// The proxy that the environment names for this address.
async function proxyFor(url: string): Promise<ProxyRoute | undefined> {
  const { env } = process;
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
  if (!names.some((name) => env[name])) return undefined;
  return (await import('./proxy.ts')).proxyFor(url);
}
