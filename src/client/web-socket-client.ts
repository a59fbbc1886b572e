import { ConnectionLost } from './connection-lost.ts';
import { type ConnectionStatus, ReconnectingSocket } from './reconnecting-socket.ts';
import { type ReconnectionConfig, defaultReconnection } from './reconnection.ts';
import { type OpenSocket, openBuiltInSocket } from './socket.ts';
import { callListener } from './call-listener.ts';

export interface WebSocketClientConfig extends Partial<ReconnectionConfig> {
  /** The built-in WebSocket unless given. */
  readonly openSocket?: OpenSocket | undefined;
  readonly random?: (() => number) | undefined;
}

/** What becomes of a connection. `open` comes once, `reconnected` each time that it is back after it was lost. */
export type WebSocketClientEvent =
  | { readonly type: 'open' | 'reconnected' }
  | { readonly type: 'message'; readonly data: string }
  | { readonly type: 'reconnecting'; readonly attempt: number; readonly delayMs: number }
  | { readonly type: 'error'; readonly error: Error }
  /** `willReconnect`: not for good. */
  | {
      readonly type: 'close';
      readonly code: number | undefined;
      readonly reason: string;
      readonly willReconnect: boolean;
    };

/** The connection of the remote session guide: text in and out, made again when it is lost. It knows no protocol. */
export class WebSocketClient {
  readonly #url: string;
  readonly #config: WebSocketClientConfig;
  readonly #listeners = new Set<(event: WebSocketClientEvent) => void>();
  #socket: ReconnectingSocket | undefined;
  #wasOpen = false;

  constructor(url: string, config: WebSocketClientConfig = {}) {
    this.#url = url;
    this.#config = config;
  }

  get isConnected(): boolean {
    return this.#socket?.status.state === 'open';
  }

  /** Connects; after the last retry has failed, once more from the beginning. */
  connect(): void {
    const state = this.#socket?.status.state;
    if (state === 'lost') this.#socket?.retry();
    if (state !== undefined && state !== 'closed') return;
    this.#wasOpen = false;
    this.#socket = this.#newSocket();
    this.#socket.connect();
  }

  /** Leaves, and does not come back by itself. */
  disconnect(): void {
    this.#socket?.close();
  }

  /** Throws while there is no connection: nothing is kept for later. */
  send(text: string): void {
    if (!this.isConnected) throw new ConnectionLost('There is no connection to the server');
    this.#socket?.send(text);
  }

  /** Hears what happens from now on; the returned function stops that. */
  subscribe(listener: (event: WebSocketClientEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #newSocket(): ReconnectingSocket {
    const { openSocket = openBuiltInSocket, random, ...config } = this.#config;
    const socket = new ReconnectingSocket({
      url: () => this.#url,
      openSocket,
      config: { ...defaultReconnection, ...config },
      random,
      onOpen: () => socket.markAttached(),
      onText: (data) => this.#emit({ type: 'message', data }),
      onDisconnect: () => {},
      onStatus: (status) => this.#handleStatus(status),
    });
    return socket;
  }

  #handleStatus({ state, code, reason, attempt = 0, delayMs = 0 }: ConnectionStatus): void {
    if (state === 'open') {
      this.#emit({ type: this.#wasOpen ? 'reconnected' : 'open' });
      this.#wasOpen = true;
      return;
    }
    // `connect` after the last retry begins without an end.
    if (reason !== undefined) this.#emit({ type: 'close', code, reason, willReconnect: state === 'reconnecting' });
    if (state === 'reconnecting') this.#emit({ type: 'reconnecting', attempt, delayMs });
    if (state === 'lost') this.#emit({ type: 'error', error: new ConnectionLost(reason) });
  }

  #emit(event: WebSocketClientEvent): void {
    for (const listener of this.#listeners) callListener(listener, event);
  }
}
