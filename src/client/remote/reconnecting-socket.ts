import { messageOf } from '../../protocol/errors.ts';
import { type ConnectionEnd, delayAfter, isFinalCode, type ReconnectionConfig, retryDelay } from './reconnection.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** The time from opening a connection to the end of its first snapshot. */
export const ATTACH_TIMEOUT_MS = 60_000;

export type ConnectionState = 'connecting' | 'open' | 'reconnecting' | 'lost' | 'closed';

/** The state of a connection that reconnects by itself. */
export interface ConnectionStatus {
  /** `lost`: every retry has failed, until `retry()`. `closed`: final. */
  readonly state: ConnectionState;
  readonly reason?: string | undefined;
  /** The close code, if there was one. */
  readonly code?: number | undefined;
  /** While reconnecting: the number of the next retry, from 1, and the delay before it. */
  readonly attempt?: number | undefined;
  readonly delayMs?: number | undefined;
}

export interface ReconnectingSocketOptions {
  /** Called before each connection, because the resume position changes. */
  readonly url: () => string;
  readonly openSocket: OpenSocket;
  readonly config: ReconnectionConfig;
  readonly random: (() => number) | undefined;
  /** The socket is open; the owner calls `markAttached` once it has a session. */
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  /** A connection or an attempt ended, not finally. A status change follows. */
  readonly onDisconnect: (ending: ConnectionEnd) => void;
  readonly onStatus: (status: ConnectionStatus) => void;
}

/** A WebSocket that reconnects until the retries are used up or a close code is final. */
export class ReconnectingSocket {
  readonly #options: ReconnectingSocketOptions;
  #status: ConnectionStatus = { state: 'connecting' };
  #socket: Socket | undefined;
  #isConnecting = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** The close reason that the server announced before closing. */
  #announcedEnd: ConnectionEnd = {};
  /** The last reported error; the reason of an end that has no other. */
  #lastError: string | undefined;

  constructor(options: ReconnectingSocketOptions) {
    this.#options = options;
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  connect(): void {
    this.#announcedEnd = {};
    this.#lastError = undefined;
    this.#startAttachTimeout();
    try {
      this.#use(this.#options.openSocket(this.#options.url()));
    } catch (error) {
      this.#finish({ reason: `No connection can be made: ${withoutAddresses(messageOf(error))}` });
    }
  }

  /** Reconnects at once, with all retries ahead, unless connected or closed. */
  retry(): void {
    const { state } = this.#status;
    if (this.#socket || (state !== 'lost' && state !== 'reconnecting')) return;
    this.#failures = 0;
    this.#setStatus({ state: 'reconnecting', attempt: 1, delayMs: 0 });
    this.connect();
  }

  /** The connection has a session: resets the retries. */
  markAttached(): void {
    if (!this.#socket) return;
    clearTimeout(this.#timer);
    this.#failures = 0;
    if (this.#status.state !== 'open') this.#setStatus({ state: 'open' });
  }

  /** The connection moves to another session, with the full attach timeout. */
  markDetached(): void {
    if (this.#status.state === 'open') this.#startAttachTimeout();
  }

  /** The server announced why it will close. */
  expectEnd(announced: ConnectionEnd): void {
    this.#announcedEnd = announced;
  }

  noteError(reason: string): void {
    this.#lastError = reason;
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  /** Replaces a connection that no longer responds. */
  drop(reason: string): void {
    this.#terminate();
    this.#handleEnd({ reason });
  }

  close(reason = 'The client was closed'): void {
    if (this.#status.state === 'closed') return;
    const socket = this.#socket;
    this.#socket = undefined;
    // Browsers log an error when a connecting socket is closed; in Node the pending socket would keep the process
    // alive.
    if (this.#isConnecting && !('process' in globalThis)) socket?.addEventListener('open', () => socket.close(1000));
    else socket?.close(1000);
    this.#finish({ reason });
  }

  #use(socket: Socket): void {
    this.#socket = socket;
    // Events of replaced sockets are ignored.
    const isCurrent = () => this.#socket === socket;
    this.#isConnecting = true;
    socket.addEventListener('open', () => {
      if (!isCurrent()) return;
      this.#isConnecting = false;
      this.#options.onOpen();
    });
    socket.addEventListener('message', ({ data }) => {
      if (isCurrent() && typeof data === 'string') this.#options.onText(data);
    });
    socket.addEventListener('error', ({ message }) => {
      if (isCurrent() && message) this.noteError(withoutAddresses(message));
    });
    socket.addEventListener('close', ({ code, reason }) => {
      if (isCurrent()) this.#handleEnd({ code, reason });
    });
  }

  #handleEnd({ code, reason }: ConnectionEnd): void {
    const announced = this.#announcedEnd;
    const end: ConnectionEnd = {
      ...announced,
      // A connection cut after the announcement has no code of its own.
      code: code === undefined || code === 1005 || code === 1006 ? (announced.code ?? code) : code,
      reason: announced.reason || reason || this.#lastError || 'The connection was lost',
    };
    this.#socket = undefined;
    if (isFinalCode(end.code)) this.#finish(end);
    else this.#scheduleRetry(end);
  }

  #scheduleRetry(end: ConnectionEnd): void {
    const { config, random, onDisconnect } = this.#options;
    const { code, reason } = end;
    clearTimeout(this.#timer);
    onDisconnect(end);
    // The callback may have closed this socket.
    if (this.#status.state === 'closed') return;
    if (this.#failures >= config.maxRetries) {
      this.#setStatus({ state: 'lost', code, reason });
      return;
    }
    const delayMs = delayAfter(end, retryDelay(this.#failures, config, random));
    this.#failures++;
    this.#startTimer(delayMs, () => this.connect());
    this.#setStatus({ state: 'reconnecting', code, reason, attempt: this.#failures, delayMs });
  }

  #finish({ code, reason }: ConnectionEnd): void {
    clearTimeout(this.#timer);
    this.#setStatus({ state: 'closed', code, reason });
  }

  #terminate(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket?.terminate) socket.terminate();
    else socket?.close();
  }

  #startAttachTimeout(): void {
    this.#startTimer(ATTACH_TIMEOUT_MS, () => this.drop('The server did not answer in time'));
  }

  #startTimer(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
  }

  #setStatus(status: ConnectionStatus): void {
    this.#status = status;
    this.#options.onStatus(status);
  }
}

/** Removes addresses, because they contain tokens. */
const withoutAddresses = (text: string) => text.replaceAll(/\bwss?:\S+/g, '(its address)');
