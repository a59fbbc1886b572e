import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { closeCodes } from '../../protocol/close-codes.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { Authority } from '../auth/authority.ts';
import { type Grant, holderOf } from '../auth/grant.ts';
import { credentialOf } from '../http/credential.ts';
import type { Sessions } from '../sessions.ts';
import { AccountableSocket } from './accountable-socket.ts';
import { Client, type Visitor } from './client.ts';
import { type Parameters, parametersIn } from './parameters.ts';
import type { GatewayServices } from './services.ts';
import { type Reason, refuseUpgrade, Strangers } from './strangers.ts';
import { Unanswered } from './unanswered.ts';
import { MAX_FRAGMENTS, MAX_FRAME_BYTES, wireOf } from './wire.ts';

/** Sockets that may be open: in all, and of one token with all its logins. */
export const MAX_CLIENTS = 1000;
export const MAX_CLIENTS_OF_ONE = 250;

/** Bytes that may wait for a client that still gets an answer to its pings. */
const MAX_BEFORE_PONG = 64 * 1024;

const invalidToken: Reason = {
  code: closeCodes.invalidToken,
  reason: 'Invalid authentication token',
  error: 'permission_denied',
};
const full: Reason = { code: closeCodes.overloaded, reason: 'Too many connections', error: 'overloaded' };

interface GatewayOptions extends Omit<GatewayServices, 'left' | 'authority' | 'isGreedy' | 'unanswered'> {
  readonly authority: Authority;
  /** How many sessions may be alive. One token may keep half of them. */
  readonly maxSessions: number;
}

/** Takes sockets, and looks after them until they are closed. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #clients = new Map<Client, WebSocket>();
  /** Those that have not been heard since they were last asked. */
  readonly #silent = new Set<Client>();
  /** What they had not taken when they were last asked. */
  readonly #unread = new WeakMap<Client, number>();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    maxFragments: MAX_FRAGMENTS,
    clientTracking: false,
    autoPong: false,
    WebSocket: AccountableSocket,
  }).on('wsClientError', refuseUpgrade);
  readonly #strangers = new Strangers();
  readonly #unanswered = new Unanswered();
  readonly #pings: NodeJS.Timeout;
  #draining: { readonly retryAfterMs: number } | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#pings = setInterval(() => this.#ping(), options.pingMs).unref();
    options.authority.onChange(() => this.#lookAtGrants());
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** Takes a request for a socket that came through the front door; who cannot come in is told why, and closed. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, visit: Visit): void {
    const { grant, address, query } = visit;
    const sendAway = (why: Reason) => this.#strangers.sendAway(request, { socket, head, why });
    if (!grant) {
      sendAway(invalidToken);
      // Of those who show none there may be any number; wrong ones are slowed down.
      if (credentialOf(request, { purpose: 'upgrade', query })?.kind === 'token')
        this.#options.audit.note({ what: 'refused', address, outcome: invalidToken.error });
      return;
    }
    const parameters = readable(query);
    if ('reason' in parameters) sendAway(parameters);
    else if (this.#isFull(grant)) sendAway(full);
    else {
      this.#sockets.handleUpgrade(request, socket, head, (accepted) =>
        this.#accept(accepted, { grant, address }, parameters),
      );
    }
  }

  /** Somebody who loads the page of a session is about to come there. What stands against it is told when they do. */
  expect(session: string, grant: Grant): void {
    const { library, sessions } = this.#options;
    if (this.#draining || this.#isFull(grant)) return;
    try {
      void sessions.prepare(library.find({ session }, grant));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
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

  #accept(socket: WebSocket, visitor: Visitor, parameters: Parameters): void {
    const left = (client: Client) => {
      this.#clients.delete(client);
      this.#silent.delete(client);
    };
    const isGreedy = (one: Client, sessionId: string) => this.#isGreedy(one, sessionId);
    const services = { ...this.#options, left, isGreedy, unanswered: this.#unanswered };
    const client = new Client(wireOf(socket), visitor, parameters, services);
    this.#clients.set(client, socket);
    const heard = () => this.#silent.delete(client);
    socket
      .on('pong', heard)
      .on('message', heard)
      .on('ping', (data) => {
        heard();
        // Whoever asks and does not listen would fill the memory with answers.
        if (socket.bufferedAmount <= MAX_BEFORE_PONG) socket.pong(data);
      });
    if (this.#draining) this.#sendHome(client, { anyway: true });
    else void client.begin(() => this.#options.library.find(parameters.sought, visitor.grant));
  }

  #isFull(grant: Grant): boolean {
    return this.#clients.size >= MAX_CLIENTS || this.#clientsOf(grant).length >= MAX_CLIENTS_OF_ONE;
  }

  #isGreedy(client: Client, sessionId: string): boolean {
    const others = this.#clientsOf(client.visitor.grant).filter((other) => other !== client);
    const occupied = new Set(others.map((other) => other.occupied));
    return !occupied.has(sessionId) && occupied.size >= Math.ceil(this.#options.maxSessions / 2);
  }

  #clientsOf(grant: Grant): readonly Client[] {
    return [...this.#clients.keys()].filter(({ visitor }) => holderOf(visitor.grant) === holderOf(grant));
  }

  /** Asks everybody whether they are there. Whoever has not answered since the last time is not. */
  #ping(): void {
    for (const [client, socket] of this.#clients) {
      if (client.isHeld && socket.isPaused) this.#silent.delete(client);
      else if (this.#silent.has(client) && !this.#isReading(client, socket)) {
        client.close({ code: closeCodes.tooSlow, reason: 'timeout', message: 'The client does not answer' });
        socket.terminate();
      } else {
        this.#silent.add(client);
        this.#unread.set(client, socket.bufferedAmount);
        socket.ping();
      }
    }
  }

  /** Whether it has taken something of what waits for it: the question may be behind that. */
  #isReading(client: Client, { bufferedAmount }: WebSocket): boolean {
    const before = this.#unread.get(client) ?? 0;
    this.#unread.set(client, bufferedAmount);
    return bufferedAmount < before;
  }

  #lookAtGrants(): void {
    for (const client of [...this.#clients.keys()]) {
      if (this.#options.authority.holds(client.visitor.grant)) continue;
      this.#options.audit.note({ what: 'revoked', ...client.visitor, sessionId: client.sessionId, outcome: 'ok' });
      const { code, reason: message, error } = invalidToken;
      client.close({ code, reason: 'error', message, error });
    }
  }

  /** Whoever watches a run may stay until it is over. */
  #sendHome(client: Client, { anyway = false } = {}): void {
    const { retryAfterMs = 0 } = this.#draining ?? {};
    const { sessionId } = client;
    const isRunning = sessionId !== undefined && isBusy(this.#options.sessions.statusOf(sessionId));
    if (isRunning && !anyway) return;
    const message = `The server restarts: retry after ${Math.ceil(retryAfterMs / 1000)} s`;
    client.close({ code: closeCodes.restart, reason: 'close', message, retryAfterMs });
  }
}

/** Whether something is done there, or waits to be. */
const isBusy = (status: ReturnType<Sessions['statusOf']>) => status === 'running' || status === 'waiting';

/** Who comes, and what for. */
export interface Visit extends Pick<Visitor, 'address'> {
  readonly grant: Visitor['grant'] | undefined;
  readonly query: URLSearchParams;
}

/** What somebody wants, or why that cannot be. */
function readable(query: URLSearchParams): Parameters | Reason {
  try {
    return parametersIn(query);
  } catch (error) {
    const { message, code } = Refusal.from(error);
    return { code: closeCodes.badParameters, reason: message, error: code };
  }
}
