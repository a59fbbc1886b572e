import { callListener } from '../call-listener.ts';
import { ConnectionLost } from '../errors.ts';
import { type ConnectionStatus, ReconnectingSocket } from './reconnecting-socket.ts';
import { defaultReconnection, type ReconnectionConfig } from './reconnection.ts';
import { type OpenSocket, openBuiltInSocket } from './socket.ts';

/** Options of a `WebSocketClient`, the reconnecting connection of the remote session guide. */
export interface WebSocketClientConfig extends Partial<ReconnectionConfig> {
  /** Defaults to the built-in WebSocket. */
  readonly openSocket?: OpenSocket | undefined;
  readonly random?: (() => number) | undefined;
}

/** `open` is emitted once, `reconnected` after each reconnect. */
export type WebSocketClientEvent =
  | { readonly type: 'open' | 'reconnected' }
  | { readonly type: 'message'; readonly data: string }
  | { readonly type: 'reconnecting'; readonly attempt: number; readonly delayMs: number }
  | { readonly type: 'error'; readonly error: Error }
  /** `willReconnect` is false for a final close. */
  | {
      readonly type: 'close';
      readonly code: number | undefined;
      readonly reason: string;
      readonly willReconnect: boolean;
    };

/** The `WebSocketClient` of the remote session guide: a reconnecting text connection without a protocol. */
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

  /** Connects; after the last retry has failed, starts over. */
  connect(): void {
    const state = this.#socket?.status.state;
    if (state === 'lost') this.#socket?.retry();
    if (state !== undefined && state !== 'closed') return;
    this.#wasOpen = false;
    this.#socket = this.#newSocket();
    this.#socket.connect();
  }

  /** Closes the connection without reconnecting. */
  disconnect(): void {
    this.#socket?.close();
  }

  /** Throws without a connection: nothing is queued. */
  send(text: string): void {
    if (!this.isConnected) throw new ConnectionLost('There is no connection to the server');
    this.#socket?.send(text);
  }

  /** Calls the listener for every event from now on; the returned function stops that. */
  subscribe(listener: (event: WebSocketClientEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #newSocket(): ReconnectingSocket {
    const { openSocket = openBuiltInSocket, random, ...config } = this.#config;
    const socket = new ReconnectingSocket({
      addressCount: 1,
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
    // `connect` after the last retry starts without a close.
    if (reason !== undefined) this.#emit({ type: 'close', code, reason, willReconnect: state === 'reconnecting' });
    if (state === 'reconnecting') this.#emit({ type: 'reconnecting', attempt, delayMs });
    if (state === 'lost') this.#emit({ type: 'error', error: new ConnectionLost(reason) });
  }

  #emit(event: WebSocketClientEvent): void {
    for (const listener of this.#listeners) callListener(listener, event);
  }
}
