import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { Refusal } from '../../protocol/errors.ts';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import type { Authority } from '../auth/authority.ts';
import { Client, PING_MS, type Visitor } from './client.ts';
import { closeCodes, shortReason } from './close-codes.ts';
import { parametersIn } from './parameters.ts';
import type { GatewayServices } from './services.ts';
import { MAX_FRAGMENTS, MAX_FRAME_BYTES, wireOf } from './wire.ts';

/** What somebody may send who is about to be sent away. */
const MAX_STRANGER_BYTES = 1024;

/** How long a connection that was refused may take to notice. */
const FAREWELL_MS = 2000;

/** Sockets that may be open: in all, and of one grant. */
export const MAX_CLIENTS = 1000;
export const MAX_CLIENTS_OF_ONE = 250;

const INVALID_TOKEN = 'Invalid authentication token';

interface GatewayOptions extends Omit<GatewayServices, 'left' | 'authority'> {
  readonly authority: Authority;
}

/** Takes sockets, and looks after them until they are closed. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #clients = new Map<Client, WebSocket>();
  /** Those that have not been heard since they were last asked. */
  readonly #silent = new Set<Client>();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    maxFragments: MAX_FRAGMENTS,
    clientTracking: false,
  });
  readonly #strangers = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_STRANGER_BYTES,
    clientTracking: false,
  });
  readonly #pings: NodeJS.Timeout;
  #draining: { readonly retryAfterMs: number } | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#pings = setInterval(() => this.#ping(), PING_MS).unref();
    options.authority.onChange(() => this.#lookAtGrants());
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** Takes a request for a socket that came through the front door; without a grant it is told so, and closed. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, visit: Visit): void {
    const { grant, address, query } = visit;
    if (!grant) {
      this.#strangers.handleUpgrade(request, socket, head, (stranger) =>
        sendAway(stranger, closeCodes.token, INVALID_TOKEN),
      );
      this.#options.audit.note({ what: 'refused', address, outcome: 'permission_denied' });
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (accepted) => this.#accept(accepted, { grant, address }, query));
  }

  /** Sends away everybody who may go, and takes nobody any more. */
  drain(retryAfterMs: number): void {
    this.#draining = { retryAfterMs };
    for (const client of [...this.#clients.keys()]) this.#sendHome(client);
  }

  /** Sends away whoever is left. */
  close(): void {
    clearInterval(this.#pings);
    for (const client of [...this.#clients.keys()]) this.#sendHome(client, { anyway: true });
  }

  #accept(socket: WebSocket, visitor: Visitor, query: URLSearchParams): void {
    if (this.#isFull(visitor)) {
      sendAway(socket, closeCodes.overloaded, 'Too many connections');
      return;
    }
    let parameters: ReturnType<typeof parametersIn>;
    try {
      parameters = parametersIn(query);
    } catch (error) {
      sendAway(socket, closeCodes.badParameters, Refusal.from(error).message);
      return;
    }
    const left = (client: Client) => {
      this.#clients.delete(client);
      this.#silent.delete(client);
    };
    const client = new Client(wireOf(socket), visitor, parameters, { ...this.#options, left });
    this.#clients.set(client, socket);
    const heard = () => this.#silent.delete(client);
    socket.on('pong', heard).on('message', heard);
    if (this.#draining) this.#sendHome(client, { anyway: true });
    else void client.begin(() => this.#options.library.find(parameters.sought, visitor.grant));
  }

  #isFull({ grant }: Visitor): boolean {
    const ofOne = [...this.#clients.keys()].filter(({ visitor }) => visitor.grant.id === grant.id).length;
    return this.#clients.size >= MAX_CLIENTS || ofOne >= MAX_CLIENTS_OF_ONE;
  }

  /** Asks everybody whether they are there. Whoever has not answered since the last time is not. */
  #ping(): void {
    for (const [client, socket] of this.#clients) {
      if (this.#silent.has(client)) {
        client.close({ code: closeCodes.bye, reason: 'timeout', message: 'The client does not answer' });
        socket.terminate();
      } else {
        this.#silent.add(client);
        socket.ping();
      }
    }
  }

  #lookAtGrants(): void {
    for (const client of [...this.#clients.keys()]) {
      if (this.#options.authority.holds(client.visitor.grant)) continue;
      this.#options.audit.note({ what: 'revoked', ...client.visitor, sessionId: client.sessionId, outcome: 'ok' });
      client.close({ code: closeCodes.token, reason: 'error', message: INVALID_TOKEN });
    }
  }

  /** Whoever watches a run may stay until it is over. */
  #sendHome(client: Client, { anyway = false } = {}): void {
    const { retryAfterMs = 0 } = this.#draining ?? {};
    const { sessionId } = client;
    const isRunning = sessionId !== undefined && this.#options.sessions.statusOf(sessionId) === 'running';
    if (isRunning && !anyway) return;
    const message = `The server restarts: retry after ${Math.ceil(retryAfterMs / 1000)} s`;
    client.close({ code: closeCodes.restart, reason: 'close', message, retryAfterMs });
  }
}

/** Who comes, and what for. */
export interface Visit extends Pick<Visitor, 'address'> {
  readonly grant: Visitor['grant'] | undefined;
  readonly query: URLSearchParams;
}

function sendAway(socket: WebSocket, code: number, reason: string): void {
  socket.on('error', () => {});
  const say = (event: AgentEvent) => socket.send(JSON.stringify(event));
  say({ type: 'server_error', error: reason });
  say({ type: 'server_disconnected', reason: 'error', message: reason, code });
  socket.close(code, shortReason(reason));
  setTimeout(() => socket.terminate(), FAREWELL_MS).unref();
}
