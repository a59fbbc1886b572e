import { messageOf } from '../../protocol/errors.ts';
import { AddressRotation } from './address-rotation.ts';
import {
  type ConnectionEnd,
  delayAfter,
  isFinalCode,
  type ReconnectionConfig,
  retryDelay,
  switchDelay,
} from './reconnection.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** The time from opening a connection to the end of its first snapshot. */
export const ATTACH_TIMEOUT_MS = 60_000;

/** The same until the socket is open, if there is another address to try: a machine that is off refuses nothing. */
export const OPEN_TIMEOUT_MS = 5000;

export type ConnectionState = 'connecting' | 'open' | 'reconnecting' | 'lost' | 'closed';

/** The state of a connection that reconnects by itself. */
export interface ConnectionStatus {
  /** `lost`: every retry has failed, until `retry()`. `closed`: final. */
  readonly state: ConnectionState;
  readonly reason?: string | undefined;
  /** The close code, if there was one. */
  readonly code?: number | undefined;
  /** While reconnecting: the number of the next retry of all addresses, from 1, and the delay before it. */
  readonly attempt?: number | undefined;
  readonly delayMs?: number | undefined;
}

export interface ReconnectingSocketOptions {
  /** The number of addresses that lead to the server. */
  readonly addressCount: number;
  /** Called with the index of an address before each connection, because the resume position changes. */
  readonly url: (address: number) => string;
  readonly openSocket: OpenSocket;
  readonly config: ReconnectionConfig;
  readonly random: (() => number) | undefined;
  /** The socket is open; the owner calls `markAttached` once it has a session. */
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  /** A connection or an attempt ended, not finally. */
  readonly onDisconnect: (ending: ConnectionEnd) => void;
  readonly onStatus: (status: ConnectionStatus) => void;
}

/** A WebSocket that reconnects until the retries are used up or a close code is final. */
export class ReconnectingSocket {
  readonly #options: ReconnectingSocketOptions;
  readonly #addresses: AddressRotation;
  #status: ConnectionStatus = { state: 'connecting' };
  #socket: Socket | undefined;
  #isConnecting = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** When the connection got its session. */
  #attachedAt = 0;
  /** The close reason that the server announced before closing. */
  #announcedEnd: ConnectionEnd = {};
  /** The last reported error; the reason of an end that has no other. */
  #lastError: string | undefined;

  constructor(options: ReconnectingSocketOptions) {
    this.#options = options;
    this.#addresses = new AddressRotation(options.addressCount);
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  connect(): void {
    this.#announcedEnd = {};
    this.#lastError = undefined;
    const { addressCount, openSocket, url } = this.#options;
    this.#startTimeout(addressCount > 1 ? OPEN_TIMEOUT_MS : ATTACH_TIMEOUT_MS);
    try {
      this.#use(openSocket(url(this.#addresses.index)));
    } catch (error) {
      this.#finish({ reason: `No connection can be made: ${withoutAddresses(messageOf(error))}` });
    }
  }

  /** Reconnects at once, with all retries ahead, unless connected or closed. */
  retry(): void {
    const { state } = this.#status;
    if (this.#socket || (state !== 'lost' && state !== 'reconnecting')) return;
    this.#failures = 0;
    this.#addresses.beginRound();
    this.#setStatus({ state: 'reconnecting', attempt: 1, delayMs: 0 });
    this.connect();
  }

  /** The connection has a session: resets the retries. */
  markAttached(): void {
    if (!this.#socket) return;
    clearTimeout(this.#timer);
    this.#failures = 0;
    this.#addresses.beginRound();
    if (this.#status.state === 'open') return;
    this.#attachedAt = performance.now();
    this.#setStatus({ state: 'open' });
  }

  /** The connection moves to another session, with the full attach timeout. */
  markDetached(): void {
    if (this.#status.state === 'open') this.#startTimeout(ATTACH_TIMEOUT_MS);
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
      if (this.#options.addressCount > 1) this.#startTimeout(ATTACH_TIMEOUT_MS);
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
    else this.#handleLoss(end);
  }

  #handleLoss(end: ConnectionEnd): void {
    clearTimeout(this.#timer);
    this.#options.onDisconnect(end);
    // The callback may have closed this socket.
    if (this.#status.state === 'closed') return;
    if (this.#status.state === 'open') this.#scheduleRetry(end, this.#delayAfterLoss(end));
    else this.#handleFailedAttempt(end);
  }

  /** The other addresses of the round are tried without a delay. */
  #handleFailedAttempt(end: ConnectionEnd): void {
    const roundEnd = this.#addresses.fail(end);
    if (roundEnd) this.#scheduleRetry(roundEnd, delayAfter(roundEnd, this.#retryDelay()));
    else this.connect();
  }

  /** After a connection that lasted, another address is tried almost at once. */
  #delayAfterLoss(end: ConnectionEnd): number {
    if (!this.#addresses.moveOn(end)) return delayAfter(end, this.#retryDelay());
    const { config, random } = this.#options;
    const hasLasted = performance.now() - this.#attachedAt >= config.initialDelayMs;
    return hasLasted ? switchDelay(config, random) : this.#retryDelay();
  }

  #retryDelay(): number {
    return retryDelay(this.#failures, this.#options.config, this.#options.random);
  }

  #scheduleRetry({ code, reason }: ConnectionEnd, delayMs: number): void {
    if (this.#failures >= this.#options.config.maxRetries) {
      this.#setStatus({ state: 'lost', code, reason });
      return;
    }
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

  #startTimeout(ms: number): void {
    this.#startTimer(ms, () => this.drop('The server did not answer in time'));
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
