import { messageOf } from '../protocol/errors.ts';
import { delayBefore, type Ending, isFinal, type ReconnectionConfig, waitAfter } from './reconnection.ts';
import type { OpenSocket, Socket } from './socket.ts';

/** From the first call of a server to the moment when it has said all that was to be said at the beginning. */
export const ATTACH_LIMIT_MS = 60_000;

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

export interface SocketOptions {
  /** Asked before each connection: it may say more than the last time. */
  readonly url: () => string;
  readonly openSocket: OpenSocket;
  readonly config: ReconnectionConfig;
  readonly random: (() => number) | undefined;
  /** There is a connection; whether it is of use is for the owner to say, by `attached`. */
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  /** A connection, or an attempt, is over, but not for good. The next status follows. */
  readonly onDown: (ending: Ending) => void;
  readonly onStatus: (status: ConnectionStatus) => void;
}

/** A WebSocket that is connected again after it was lost, until that has failed too often or cannot help. */
export class ReconnectingSocket {
  readonly #options: SocketOptions;
  #status: ConnectionStatus = { state: 'connecting' };
  #socket: Socket | undefined;
  /** Whether the socket is not open yet. */
  #isConnecting = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** What the server said about the end of this connection before it came. */
  #farewell: Ending = {};
  /** What else was said to be wrong. */
  #complaint: string | undefined;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  connect(): void {
    this.#farewell = {};
    this.#complaint = undefined;
    this.#waitForSession();
    try {
      this.#listen(this.#options.openSocket(this.#options.url()));
    } catch (error) {
      this.#finish({ reason: `No connection can be made: ${plain(messageOf(error))}` });
    }
  }

  /** Tries at once, with all retries ahead, if there is no connection and not for good. */
  retry(): void {
    const { state } = this.#status;
    if (this.#socket || (state !== 'lost' && state !== 'reconnecting')) return;
    this.#failures = 0;
    this.#change({ state: 'reconnecting', attempt: 1, delayMs: 0 });
    this.connect();
  }

  /** The connection is of use: what went wrong before is forgotten. */
  attached(): void {
    if (!this.#socket) return;
    clearTimeout(this.#timer);
    this.#failures = 0;
    if (this.#status.state !== 'open') this.#change({ state: 'open' });
  }

  /** The connection leads to another session, which may take as long as the first. */
  detached(): void {
    if (this.#status.state === 'open') this.#waitForSession();
  }

  /** The server has said why it is about to close. */
  expectEnd(farewell: Ending): void {
    this.#farewell = farewell;
  }

  /** Something is wrong; should the connection end, this may be why. */
  complain(reason: string): void {
    this.#complaint = reason;
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  /** The connection only looks like one: lets go of it and makes another. */
  drop(reason: string): void {
    this.#letGo();
    this.#ended({ reason });
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

  #listen(socket: Socket): void {
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
      if (isCurrent() && message) this.complain(plain(message));
    });
    socket.addEventListener('close', ({ code, reason }) => {
      if (isCurrent()) this.#ended({ code, reason });
    });
  }

  #ended({ code, reason }: Ending): void {
    const farewell = this.#farewell;
    const ending: Ending = {
      ...farewell,
      // A connection that was cut off after the goodbye has no code of its own.
      code: code === undefined || code === 1005 || code === 1006 ? (farewell.code ?? code) : code,
      reason: farewell.reason || reason || this.#complaint || 'The connection was lost',
    };
    this.#socket = undefined;
    if (isFinal(ending.code)) this.#finish(ending);
    else this.#goOn(ending);
  }

  #goOn(ending: Ending): void {
    const { config, random, onDown } = this.#options;
    const { code, reason } = ending;
    clearTimeout(this.#timer);
    onDown(ending);
    // Whoever heard of it may have left.
    if (this.#status.state === 'closed') return;
    if (this.#failures >= config.maxRetries) {
      this.#change({ state: 'lost', code, reason });
      return;
    }
    const delayMs = waitAfter(ending, delayBefore(this.#failures, config, random));
    this.#failures++;
    this.#wait(delayMs, () => this.connect());
    this.#change({ state: 'reconnecting', code, reason, attempt: this.#failures, delayMs });
  }

  #finish({ code, reason }: Ending): void {
    clearTimeout(this.#timer);
    this.#change({ state: 'closed', code, reason });
  }

  #letGo(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket?.terminate) socket.terminate();
    else socket?.close();
  }

  #waitForSession(): void {
    this.#wait(ATTACH_LIMIT_MS, () => this.drop('The server did not answer in time'));
  }

  #wait(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
  }

  #change(status: ConnectionStatus): void {
    this.#status = status;
    this.#options.onStatus(status);
  }
}

/** Without addresses: they carry tokens. */
const plain = (text: string) => text.replaceAll(/\bwss?:\S+/g, '(its address)');
