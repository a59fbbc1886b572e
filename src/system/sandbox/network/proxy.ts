import { lookup as resolve } from 'node:dns/promises';
import { createServer, type IncomingMessage, request, type ServerResponse, STATUS_CODES } from 'node:http';
import { connect, isIP, type Server as Listener, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isPrivateAddress } from './addresses.ts';

/** How the proxy decides, and where host names come from. */
export interface ProxyOptions {
  readonly mayConnect: (host: string, port: number) => Promise<boolean>;
  /** Returns the addresses of a host; the resolver of the system by default. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
}

/** A proxy for HTTP and HTTPS. */
export interface CellProxy {
  readonly close: () => Promise<void>;
}

const MAX_PROXY_CONNECTIONS = 256;
const MAX_PROXY_HEADER_BYTES = 16 * 1024;
const PROXY_HEADER_MS = 30_000;
const PROXY_CONNECT_MS = 30_000;
// A tunnel without a byte in either direction.
const PROXY_IDLE_MS = 10 * 60 * 1000;

// They belong to one connection, not to the message.
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const DEFAULT_PORT = 80;
const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/;

interface Target {
  readonly host: string;
  readonly port: number;
}

class Refusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** Serves a proxy on a listening socket. It connects from this process, and only to addresses that it has checked. */
export function serveProxy(listener: Listener, options: ProxyOptions): CellProxy {
  const gate = new Gate(options);
  const tunnels = new Set<Duplex>();
  const server = createServer({ maxHeaderSize: MAX_PROXY_HEADER_BYTES, headersTimeout: PROXY_HEADER_MS });
  server.maxConnections = MAX_PROXY_CONNECTIONS;
  // While a decision is awaited, a request takes as long as the user does.
  server.requestTimeout = 0;
  server.on('request', (incoming, outgoing) => void forward(incoming, outgoing, gate));
  server.on('connect', (incoming: IncomingMessage, client, head) => {
    tunnels.add(client);
    client.once('close', () => tunnels.delete(client));
    void tunnel({ incoming, client, head }, gate);
  });
  server.on('clientError', (_error, socket) => void socket.destroy());
  server.listen(listener).unref();
  const close = async () => {
    for (const client of tunnels) client.destroy();
    server.closeAllConnections();
    await new Promise((settle) => server.close(settle));
  };
  return { close };
}

/** Decides about hosts. Concurrent connections to one host wait for one decision. */
class Gate {
  readonly #options: ProxyOptions;
  readonly #pending = new Map<string, Promise<boolean>>();

  constructor(options: ProxyOptions) {
    this.#options = options;
  }

  /**
   * Returns the address to connect to. Throws a `Refusal`.
   *
   * The name is resolved only after it was allowed, as a query sends it away, and only once: a second answer could
   * differ. A private address is reached only if it is itself what was allowed.
   */
  async admit({ host, port }: Target): Promise<string> {
    if (!(await this.#isAllowed(host, port))) {
      throw new Refusal(403, 'blocked-by-sandbox', `The sandbox does not allow connections to ${host}:${port}.`);
    }
    if (isIP(host) !== 0) return host;
    const address = (await this.#addresses(host)).find((candidate) => !isPrivateAddress(candidate));
    if (address !== undefined) return address;
    throw new Refusal(403, 'private-address', `${host} is an address of this machine or of a private network.`);
  }

  #isAllowed(host: string, port: number): Promise<boolean> {
    const key = `${host}:${port}`;
    const known = this.#pending.get(key);
    if (known !== undefined) return known;
    const decision = this.#options
      .mayConnect(host, port)
      .catch(() => false)
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, decision);
    return decision;
  }

  async #addresses(host: string): Promise<readonly string[]> {
    try {
      return await (this.#options.lookup ?? systemLookup)(host);
    } catch (error) {
      throw new Refusal(502, 'dns', `${host} cannot be resolved: ${(error as Error).message}`);
    }
  }
}

const systemLookup = async (host: string) => (await resolve(host, { all: true })).map(({ address }) => address);

interface TunnelRequest {
  readonly incoming: IncomingMessage;
  readonly client: Duplex;
  readonly head: Buffer;
}

async function tunnel({ incoming, client, head }: TunnelRequest, gate: Gate): Promise<void> {
  client.on('error', () => {});
  try {
    const target = parseTarget(`http://${incoming.url}`, incoming.url ?? '');
    const upstream = await open(await gate.admit(target), target.port, client);
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    upstream.write(head);
    await Promise.allSettled([pipeline(client, upstream), pipeline(upstream, client)]);
  } catch (error) {
    const { status, reason, message } = asRefusal(error);
    const headers = ['content-type: text/plain', 'connection: close', `x-proxy-error: ${reason}`];
    client.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...headers, '', `${message}\n`].join('\r\n'));
  }
}

function open(address: string, port: number, client: Duplex): Promise<Socket> {
  const socket = connect({ host: address, port });
  client.once('close', () => socket.destroy());
  if (client.destroyed) socket.destroy();
  socket.setTimeout(PROXY_CONNECT_MS, () => socket.destroy(new Error('timed out')));
  return new Promise((settle, reject) => {
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
    socket.once('connect', () => {
      socket.removeAllListeners('timeout').setTimeout(PROXY_IDLE_MS, () => socket.destroy());
      socket.on('error', () => {});
      settle(socket);
    });
  });
}

async function forward(incoming: IncomingMessage, outgoing: ServerResponse, gate: Gate): Promise<void> {
  try {
    const url = incoming.url ?? '';
    if (!url.toLowerCase().startsWith('http://')) throw new Refusal(400, 'not-a-proxy-request', 'This is a proxy.');
    const target = parseTarget(url, url);
    const host = await gate.admit(target);
    const response = await exchange(incoming, outgoing, { host, port: target.port });
    outgoing.writeHead(response.statusCode ?? 502, endToEnd(response.rawHeaders));
    await pipeline(response, outgoing);
  } catch (error) {
    const { status, reason, message } = asRefusal(error);
    if (outgoing.headersSent) outgoing.destroy();
    else
      outgoing
        .writeHead(status, { 'x-proxy-error': reason, 'content-type': 'text/plain', connection: 'close' })
        .end(`${message}\n`);
  }
}

function exchange(incoming: IncomingMessage, outgoing: ServerResponse, target: Target): Promise<IncomingMessage> {
  const { pathname, search, host } = new URL(incoming.url ?? '');
  // The host of the URL was judged: a different Host header must not reach another site of the same server.
  // Without this Node sends the body of a GET as it is: what follows the headers would be a second request.
  const framing = incoming.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked'];
  const headers = [...endToEnd(incoming.rawHeaders, ['host']), 'Host', host, ...framing];
  const { method } = incoming;
  const upstream = request({ ...target, method, path: `${pathname}${search}`, headers, setHost: false, agent: false });
  outgoing.once('close', () => upstream.destroy());
  upstream.setTimeout(PROXY_IDLE_MS, () => upstream.destroy(new Error('timed out')));
  return new Promise((settle, reject) => {
    upstream.once('response', settle);
    upstream.on('error', reject);
    pipeline(incoming, upstream).catch(reject);
  });
}

/** The headers that are not about one connection, as pairs in one list. */
function endToEnd(rawHeaders: readonly string[], dropped: readonly string[] = []): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    if (!HOP_BY_HOP.has(name.toLowerCase()) && !dropped.includes(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

/** The host in its only spelling, so that decisions about it are remembered. */
function parseTarget(url: string, shown: string): Target {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const host =
    parsed?.hostname
      .replace(/^\[(.*)\]$/, '$1')
      .replace(/\.$/, '')
      .toLowerCase() ?? '';
  const hasCredentials = parsed !== undefined && parsed.username + parsed.password !== '';
  if (hasCredentials || (isIP(host) === 0 && !HOST_NAME.test(host))) {
    throw new Refusal(400, 'bad-request', `Not a host: ${shown}`);
  }
  return { host, port: Number(parsed?.port || DEFAULT_PORT) };
}

const asRefusal = (error: unknown): Refusal =>
  error instanceof Refusal ? error : new Refusal(502, 'unreachable', `No connection: ${(error as Error).message}`);
