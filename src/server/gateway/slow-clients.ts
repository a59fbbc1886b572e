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

type Closable = Pick<Client, 'close'>;

/** Closes a client with 4408 when more waits for it than the limits allow. It may resume at its cursor. */
export const slowClientPolicy = (client: Closable): OverflowPolicy => ({
  kind: 'disconnect',
  maxEvents: MAX_QUEUED_EVENT_BYTES,
  maxBacklog: MAX_CLIENT_BACKLOG,
  onOverflow: () => closeSlow(client, 'The client reads too slowly'),
});

/** Closes and terminates a client that since the last ping sent nothing and received none of the bytes in its socket. */
export class ClientPings {
  readonly #sockets = new Map<Client, WebSocket>();
  /** Clients without a sign of life since the last ping, with the bytes in their sockets then. */
  readonly #awaitingPong = new Map<Client, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(pingMs: number) {
    this.#timer = setInterval(() => this.#pingAll(), pingMs).unref();
  }

  add(client: Client, socket: WebSocket): void {
    this.#sockets.set(client, socket);
    const markAlive = () => this.#awaitingPong.delete(client);
    socket
      .on('pong', markAlive)
      .on('message', markAlive)
      .on('ping', (data) => {
        markAlive();
        // Pongs to a client that does not read would fill the memory.
        if (socket.bufferedAmount <= MAX_BUFFERED_FOR_PONG) socket.pong(data);
      });
  }

  remove(client: Client): void {
    this.#sockets.delete(client);
    this.#awaitingPong.delete(client);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #pingAll(): void {
    for (const [client, socket] of this.#sockets) {
      const bufferedAtPing = this.#awaitingPong.get(client);
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

const closeSlow = (client: Closable, message: string) =>
  client.close({ code: closeCodes.tooSlow, reason: 'timeout', message });
