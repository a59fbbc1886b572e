import {
  createServer,
  type IncomingMessage,
  type ServerOptions as NodeOptions,
  type RequestListener,
  type Server,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { withTimeout } from '../../../system/with-timeout.ts';
import { OwnerRequest, plainAddress } from '../admission/owner-request.ts';
import { respondRaw, sendRefusal, setSecurityHeaders } from '../responses.ts';
import { ConnectionCap, type ConnectionLimits, type DropReason } from './connection-cap.ts';
import type { Tls } from './tls-files.ts';

export interface HttpLimits {
  readonly connections: ConnectionLimits;
  /** How long the head of a request, and the whole request, may take to arrive. */
  readonly headMs: number;
  readonly requestMs: number;
  readonly checkMs: number;
  readonly headBytes: number;
  readonly headLines: number;
  readonly keepAliveMs: number;
  /** How long a connection may stall during a response. */
  readonly stallMs: number;
  readonly handshakeMs: number;
  /** How long `close` waits for running responses. */
  readonly closeMs: number;
}

export const httpLimits: HttpLimits = {
  connections: { total: 2000, perAddress: 500, withoutRequest: 200 },
  headMs: 10_000,
  requestMs: 30_000,
  checkMs: 1000,
  headBytes: 16 * 1024,
  headLines: 100,
  keepAliveMs: 5000,
  stallMs: 60_000,
  handshakeMs: 10_000,
  closeMs: 2000,
};

export interface ServerOptions {
  readonly handler: RequestListener;
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly onDrop?: (reason: DropReason) => void;
  readonly limits?: HttpLimits;
}

interface ServerKind {
  readonly tls?: Tls | undefined;
  readonly isOwnerOnly?: boolean;
  // Whether the remote address identifies the client.
  readonly limitsPerAddress?: boolean;
}

/** An HTTP server that slow or greedy clients cannot block. */
export class LimitedServer {
  readonly server: Server;
  readonly #cap: ConnectionCap;
  readonly #limits: HttpLimits;

  constructor(
    { handler, onUpgrade, onDrop = () => {}, limits = httpLimits }: ServerOptions,
    { tls, isOwnerOnly = false, limitsPerAddress = false }: ServerKind,
  ) {
    this.#limits = limits;
    this.#cap = new ConnectionCap(limits.connections, onDrop);
    this.server = newServer(limits, { tls, isOwnerOnly });
    this.server.on('connection', (socket: Socket) => {
      const { remoteAddress } = socket;
      this.#cap.add(socket, limitsPerAddress && remoteAddress !== undefined ? plainAddress(remoteAddress) : undefined);
    });
    const onRequest: RequestListener = (request, response) => {
      this.#cap.markRequest(request.socket);
      if (!this.#hasTooManyLines(request)) return handler(request, response);
      setSecurityHeaders(request, response);
      sendRefusal(response, headTooLarge);
    };
    this.server.on('request', onRequest).on('checkExpectation', onRequest);
    this.server.on('upgrade', (request, socket, head) => {
      this.#cap.markRequest(request.socket);
      request.socket.setTimeout(0);
      // Errors before a handler takes over are ignored.
      socket.on('error', () => {});
      if (this.#hasTooManyLines(request)) respondRaw(socket, headTooLarge);
      else onUpgrade(request, socket, head);
    });
    this.server.on('clientError', (error, socket) => this.#handleClientError(error, socket as Socket));
  }

  /** Stops listening, waits briefly for running responses, then drops all connections, including upgraded sockets. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeIdleConnections();
    await withTimeout(this.#limits.closeMs, closed, 'too late').catch(() => this.#cap.clear());
    await closed;
  }

  #hasTooManyLines({ rawHeaders }: IncomingMessage): boolean {
    return rawHeaders.length > 2 * this.#limits.headLines;
  }

  /**
   * Responds to a malformed request. After a first request a response may be running, so the connection is only
   * dropped.
   */
  #handleClientError({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
    if (socket.writableEnded) return;
    if (!this.#cap.isWithoutRequest(socket)) socket.destroy();
    else if (code === 'HPE_HEADER_OVERFLOW') respondRaw(socket, headTooLarge);
    else if (code === 'ERR_HTTP_REQUEST_TIMEOUT') respondRaw(socket, requestTooSlow);
    else if (code.startsWith('HPE_')) respondRaw(socket, malformedRequest);
    else socket.destroy();
  }
}

function newServer(limits: HttpLimits, { tls, isOwnerOnly }: ServerKind): Server {
  const options: NodeOptions = {
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.headBytes,
    ...(isOwnerOnly ? { IncomingMessage: OwnerRequest } : {}),
  };
  const server = tls
    ? createTlsServer({ ...options, ...tls, handshakeTimeout: limits.handshakeMs })
    : createServer(options);
  // Node omits further headers: one more than allowed reveals the excess.
  server.maxHeadersCount = limits.headLines + 1;
  server.timeout = limits.stallMs;
  return server;
}

const headTooLarge = { status: 431, code: 'too_large', error: 'The head of the request is too large' };
const requestTooSlow = { status: 408, code: 'too_slow', error: 'The request took too long to arrive' };
const malformedRequest = { status: 400, code: 'bad_request', error: 'This is no request' };
