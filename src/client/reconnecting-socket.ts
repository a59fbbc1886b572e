import { messageOf } from '../protocol/errors.ts';
import { retryDelay, type ConnectionEnd, isFinalCode, type ReconnectionConfig, delayAfter } from './reconnection.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** From the first call of a server to the moment when it has said all that was to be said at the beginning. */
export const ATTACH_TIMEOUT_MS = 60_000;

export type ConnectionState = 'connecting' | 'open' | 'reconnecting' | 'lost' | 'closed';

/** How a connection stands. */
export interface ConnectionStatus {
  /** `lost`: every retry has failed, and `retry()` begins again. `closed`: for good. */
  readonly state: ConnectionState;
  /** Why there is no connection. */
  readonly reason?: string | undefined;
  /** What it was closed with, if anybody said so. */
  readonly code?: number | undefined;
  /** While reconnecting: the number of the next retry, from 1, and after how long it comes. */
  readonly attempt?: number | undefined;
  readonly delayMs?: number | undefined;
}

export interface ReconnectingSocketOptions {
  /** Asked before each connection: it may say more than the last time. */
  readonly url: () => string;
  readonly openSocket: OpenSocket;
  readonly config: ReconnectionConfig;
  readonly random: (() => number) | undefined;
  /** There is a connection; whether it is of use is for the owner to say, by `attached`. */
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  /** A connection, or an attempt, is over, but not for good. The next status follows. */
  readonly onDisconnect: (ending: ConnectionEnd) => void;
  readonly onStatus: (status: ConnectionStatus) => void;
}

/** A WebSocket that is connected again after it was lost, until that has failed too often or cannot help. */
export class ReconnectingSocket {
  readonly #options: ReconnectingSocketOptions;
  #status: ConnectionStatus = { state: 'connecting' };
  #socket: Socket | undefined;
  /** Whether the socket is not open yet. */
  #isConnecting = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** What the server said about the end of this connection before it came. */
  #announcedEnd: ConnectionEnd = {};
  /** What else was said to be wrong. */
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

  /** Tries at once, with all retries ahead, if there is no connection and not for good. */
  retry(): void {
    const { state } = this.#status;
    if (this.#socket || (state !== 'lost' && state !== 'reconnecting')) return;
    this.#failures = 0;
    this.#setStatus({ state: 'reconnecting', attempt: 1, delayMs: 0 });
    this.connect();
  }

  /** The connection is of use: what went wrong before is forgotten. */
  markAttached(): void {
    if (!this.#socket) return;
    clearTimeout(this.#timer);
    this.#failures = 0;
    if (this.#status.state !== 'open') this.#setStatus({ state: 'open' });
  }

  /** The connection leads to another session, which may take as long as the first. */
  markDetached(): void {
    if (this.#status.state === 'open') this.#startAttachTimeout();
  }

  /** The server has said why it is about to close. */
  expectEnd(announced: ConnectionEnd): void {
    this.#announcedEnd = announced;
  }

  /** Something is wrong; should the connection end, this may be why. */
  noteError(reason: string): void {
    this.#lastError = reason;
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  /** The connection only looks like one: lets go of it and makes another. */
  drop(reason: string): void {
    this.#terminate();
    this.#handleEnd({ reason });
  }

  close(reason = 'The client was closed'): void {
    if (this.#status.state === 'closed') return;
    const socket = this.#socket;
    this.#socket = undefined;
    // A browser complains of a socket that is closed before it is open; a process could not end before that.
    if (this.#isConnecting && !('process' in globalThis)) socket?.addEventListener('open', () => socket.close(1000));
    else socket?.close(1000);
    this.#finish({ reason });
  }

  #use(socket: Socket): void {
    this.#socket = socket;
    // One that was let go may still have things to say, to nobody.
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
      // A connection that was cut off after the goodbye has no code of its own.
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
    // Whoever heard of it may have left.
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

/** Without addresses: they carry tokens. */
const withoutAddresses = (text: string) => text.replaceAll(/\bwss?:\S+/g, '(its address)');
