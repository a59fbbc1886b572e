import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { OverflowPolicy } from '../../fanout/event-queue.ts';
import { closeCodes } from '../../protocol/errors.ts';
import type { Client } from './client.ts';

/** Bytes of session events that may wait for a slow client, enough for some images. */
export const MAX_QUEUED_EVENT_BYTES = 16 * 1024 * 1024;

/** Bytes of events and responses that may wait for a client. */
export const MAX_CLIENT_BACKLOG = 64 * 1024 * 1024;

// Buffered bytes up to which a client's pings are answered.
const MAX_BUFFERED_FOR_PONG = 64 * 1024;

// Pings after which a message of a client must be complete.
const MAX_PINGS_PER_MESSAGE = 3;

// Header and mask of a ping or pong.
const CONTROL_FRAME_HEAD = 6;

type Closable = Pick<Client, 'close'>;

/** Closes a client with 4408 when more waits for it than the limits allow. It may resume at its cursor. */
export const slowClientPolicy = (client: Closable): OverflowPolicy => ({
  kind: 'disconnect',
  maxEvents: MAX_QUEUED_EVENT_BYTES,
  maxBacklog: MAX_CLIENT_BACKLOG,
  onOverflow: () => closeSlow(client, 'The client reads too slowly'),
});

/**
 * Closes and terminates a client that since the last ping sent nothing and received none of the bytes in its socket, or
 * that does not complete a message for some pings.
 */
export class ClientPings {
  readonly #sockets = new Map<Client, WebSocket>();
  /** Clients without a sign of life since the last ping, with the bytes in their sockets then. */
  readonly #awaitingPong = new Map<Client, number>();
  readonly #messages = new Map<Client, UnfinishedMessage>();
  readonly #timer: NodeJS.Timeout;

  constructor(pingMs: number) {
    this.#timer = setInterval(() => this.#pingAll(), pingMs).unref();
  }

  /** `transport` carries the bytes of the socket. */
  add(client: Client, socket: WebSocket, transport: Duplex): void {
    this.#sockets.set(client, socket);
    const message = new UnfinishedMessage();
    this.#messages.set(client, message);
    // Before the WebSocket handles the bytes.
    transport.prependListener('data', (chunk: Buffer) => message.add(chunk.length));
    const markAlive = () => this.#awaitingPong.delete(client);
    socket
      .on('pong', (data) => {
        markAlive();
        message.subtract(data.length);
      })
      .on('message', () => {
        markAlive();
        message.complete();
      })
      .on('ping', (data) => {
        markAlive();
        message.subtract(data.length);
        // Pongs to a client that does not read would fill the memory.
        if (socket.bufferedAmount <= MAX_BUFFERED_FOR_PONG) socket.pong(data);
      });
  }

  remove(client: Client): void {
    this.#sockets.delete(client);
    this.#messages.delete(client);
    this.#awaitingPong.delete(client);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #pingAll(): void {
    for (const [client, socket] of this.#sockets) {
      const bufferedAtPing = this.#awaitingPong.get(client);
      if (!socket.isPaused && this.#messages.get(client)?.isTooLate()) {
        closeSlow(client, 'A message took too long to arrive');
        socket.terminate();
        continue;
      }
      // The server itself stopped reading from this client: its pong cannot arrive.
      if (client.isHeld && socket.isPaused) this.#awaitingPong.delete(client);
      else if (bufferedAtPing !== undefined && socket.bufferedAmount >= bufferedAtPing) {
        closeSlow(client, 'The client does not answer');
        socket.terminate();
      } else {
        // Its pong may wait behind buffered bytes: as long as those shrink, the client reads.
        this.#awaitingPong.set(client, socket.bufferedAmount);
        socket.ping();
      }
    }
  }
}

/** The bytes of a message that is not complete, without the pings and pongs between them. */
class UnfinishedMessage {
  #bytes = 0;
  #pings = 0;

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  subtract(controlBytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - CONTROL_FRAME_HEAD - controlBytes);
  }

  complete(): void {
    this.#bytes = 0;
    this.#pings = 0;
  }

  /** Called at each ping. */
  isTooLate(): boolean {
    this.#pings = this.#bytes > 0 ? this.#pings + 1 : 0;
    return this.#pings > MAX_PINGS_PER_MESSAGE;
  }
}

const closeSlow = (client: Closable, message: string) =>
  client.close({ code: closeCodes.tooSlow, reason: 'timeout', message });
