import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { closeCodes, Refusal } from '../../protocol/errors.ts';
import type { Authority } from '../auth/authority.ts';
import { accessOf, type Grant, tokenIdOf } from '../auth/grant.ts';
import type { Sessions } from '../sessions.ts';
import { Client, type ClientIdentity } from './client.ts';
import { clientSocket, MAX_FRAGMENTS, MAX_FRAME_BYTES, MAX_READER_FRAME_BYTES } from './client-socket.ts';
import { InFlightLimit, SnapshotBudget } from './command-limits.ts';
import { type ConnectParameters, parseConnectParameters } from './connect-parameters.ts';
import { ExplainingSocket } from './explaining-socket.ts';
import { RejectedUpgrades, type RejectReason, rejectMalformedUpgrade } from './rejected-upgrades.ts';
import type { GatewayServices } from './services.ts';
import { ClientPings } from './slow-clients.ts';

/** Open sockets in all, and of one token with all its logins. */
export const MAX_CLIENTS = 1000;
export const MAX_CLIENTS_PER_TOKEN = 250;

const invalidToken: RejectReason = {
  code: closeCodes.invalidToken,
  reason: 'Invalid authentication token',
  error: 'permission_denied',
};
const serverFull: RejectReason = { code: closeCodes.overloaded, reason: 'Too many connections', error: 'overloaded' };

interface GatewayOptions
  extends Omit<GatewayServices, 'onClientClosed' | 'authority' | 'exceedsSessionQuota' | 'inFlight' | 'snapshots'> {
  readonly authority: Authority;
  // Live sessions in all; one token may keep half of them.
  readonly maxSessions: number;
  /** The reason for which no new clients are accepted at the moment. */
  readonly unavailability: () => string | undefined;
}

/** Accepts WebSocket upgrades and owns the clients until they close. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #clients = new Set<Client>();
  readonly #sockets = socketServer(MAX_FRAME_BYTES);
  /** For clients that may not prompt: their commands are short. */
  readonly #readerSockets = socketServer(MAX_READER_FRAME_BYTES);
  readonly #rejectedUpgrades = new RejectedUpgrades();
  readonly #inFlight = new InFlightLimit();
  readonly #snapshots = new SnapshotBudget();
  readonly #pings: ClientPings;
  #draining: { readonly retryAfterMs: number } | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#pings = new ClientPings(options.pingMs);
    options.authority.onChange(() => this.#closeRevoked());
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  /** Upgrades an admitted request; a rejected client gets the reason before the close. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, upgrade: UpgradeRequest): void {
    const { grant, address, query } = upgrade;
    const reject = (reason: RejectReason) => this.#rejectedUpgrades.reject(request, { socket, head, reason });
    if (!grant) {
      reject(invalidToken);
      return;
    }
    const unavailability = this.#options.unavailability();
    if (unavailability !== undefined) {
      reject({
        code: closeCodes.overloaded,
        reason: `The server is unavailable: ${unavailability}`,
        error: 'overloaded',
      });
      return;
    }
    const parameters = tryParse(query);
    if ('reason' in parameters) reject(parameters);
    else if (this.#isFull(grant)) reject(serverFull);
    else {
      const sockets = grant.scopes.has('prompt') ? this.#sockets : this.#readerSockets;
      sockets.handleUpgrade(request, socket, head, (accepted) =>
        this.#accept(accepted, { grant, address }, { parameters, transport: socket }),
      );
    }
  }

  /** Starts the agent of a session whose page is being loaded. Refusals are reported when the client connects. */
  async prewarm(session: string, grant: Grant): Promise<void> {
    const { catalog, sessions } = this.#options;
    if (this.#draining || this.#isFull(grant) || this.#options.unavailability() !== undefined) return;
    try {
      const target = await catalog.find({ session }, grant);
      if (!this.#draining) await sessions.prewarm(target, accessOf(grant));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }

  /** Disconnects all idle clients and accepts no more. */
  drain(retryAfterMs: number): void {
    this.#draining = { retryAfterMs };
    for (const client of [...this.#clients]) this.#disconnect(client);
  }

  close(): void {
    this.#pings.close();
    for (const client of [...this.#clients]) this.#disconnect(client, { force: true });
  }

  #accept(socket: WebSocket, identity: ClientIdentity, { parameters, transport }: AcceptedUpgrade): void {
    const onClientClosed = (client: Client) => {
      this.#clients.delete(client);
      this.#pings.remove(client);
    };
    const exceedsSessionQuota = (one: Client, sessionId: string) => this.#exceedsSessionQuota(one, sessionId);
    const shared = { inFlight: this.#inFlight, snapshots: this.#snapshots };
    const services = { ...this.#options, onClientClosed, exceedsSessionQuota, ...shared };
    const client = new Client(clientSocket(socket), identity, parameters, services);
    this.#clients.add(client);
    this.#pings.add(client, socket, transport);
    if (this.#draining) this.#disconnect(client, { force: true });
    else void client.start(() => this.#options.catalog.find(parameters.selector, identity.grant));
  }

  #isFull(grant: Grant): boolean {
    return this.#clients.size >= MAX_CLIENTS || this.#clientsOf(grant).length >= MAX_CLIENTS_PER_TOKEN;
  }

  #exceedsSessionQuota(client: Client, sessionId: string): boolean {
    const others = this.#clientsOf(client.identity.grant).filter((other) => other !== client);
    const occupiedSessionIds = new Set(others.map((other) => other.occupiedSessionId));
    return !occupiedSessionIds.has(sessionId) && occupiedSessionIds.size >= Math.ceil(this.#options.maxSessions / 2);
  }

  #clientsOf(grant: Grant): readonly Client[] {
    return [...this.#clients].filter(({ identity }) => tokenIdOf(identity.grant) === tokenIdOf(grant));
  }

  #closeRevoked(): void {
    for (const client of [...this.#clients]) {
      if (this.#options.authority.isValid(client.identity.grant)) continue;
      this.#options.audit.record({ action: 'revoked', ...client.identity, sessionId: client.sessionId, outcome: 'ok' });
      const { code, reason: message, error } = invalidToken;
      client.close({ code, reason: 'error', message, error });
    }
  }

  /** A client of a running session stays connected unless forced. */
  #disconnect(client: Client, { force = false } = {}): void {
    const { retryAfterMs = 0 } = this.#draining ?? {};
    const { sessionId } = client;
    const isRunning = sessionId !== undefined && isBusy(this.#options.sessions.statusOf(sessionId));
    if (isRunning && !force) return;
    const message = `The server restarts: retry after ${Math.ceil(retryAfterMs / 1000)} s`;
    client.close({ code: closeCodes.restart, reason: 'close', message, retryAfterMs });
  }
}

const socketServer = (maxPayload: number) =>
  new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload,
    maxFragments: MAX_FRAGMENTS,
    clientTracking: false,
    autoPong: false,
    WebSocket: ExplainingSocket,
  }).on('wsClientError', rejectMalformedUpgrade);

const isBusy = (status: ReturnType<Sessions['statusOf']>) => status === 'running' || status === 'waiting';

interface AcceptedUpgrade {
  readonly parameters: ConnectParameters;
  // Carries the bytes of the WebSocket.
  readonly transport: Duplex;
}

/** The parts of an admitted upgrade request that the gateway needs. */
export interface UpgradeRequest extends Pick<ClientIdentity, 'address'> {
  readonly grant: ClientIdentity['grant'] | undefined;
  readonly query: URLSearchParams;
}

/** The parameters, or the reason for rejecting them. */
function tryParse(query: URLSearchParams): ConnectParameters | RejectReason {
  try {
    return parseConnectParameters(query);
  } catch (error) {
    const { message, code } = Refusal.from(error);
    return { code: closeCodes.badParameters, reason: message, error: code };
  }
}
