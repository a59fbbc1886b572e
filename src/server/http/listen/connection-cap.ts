import type { Socket } from 'node:net';

export interface ConnectionLimits {
  readonly total: number;
  readonly perAddress: number;
  /** Open connections that have not sent a request yet. */
  readonly withoutRequest: number;
}

/** The limit for which a connection was dropped. */
export type DropReason = keyof ConnectionLimits;

type Key = string | Socket;

/** Counts connections and drops those over the limits. */
export class ConnectionCap {
  readonly #limits: ConnectionLimits;
  readonly #onDrop: (reason: DropReason) => void;
  readonly #open = new Set<Socket>();
  readonly #perAddress = new Map<string, number>();
  /** By `keyOf`, the oldest first. */
  readonly #withoutRequest = new Map<Key, Socket>();

  constructor(limits: ConnectionLimits, onDrop: (reason: DropReason) => void) {
    this.#limits = limits;
    this.#onDrop = onDrop;
  }

  /** Adds a connection. `address` is undefined if it does not identify a client, as behind a proxy. */
  add(socket: Socket, address: string | undefined): void {
    const reason = this.#exceededLimit(address);
    if (reason) {
      this.#drop(socket, reason);
      return;
    }
    const key = keyOf(socket);
    this.#open.add(socket);
    this.#withoutRequest.set(key, socket);
    if (address !== undefined) this.#perAddress.set(address, this.#countOf(address) + 1);
    socket.once('close', () => {
      this.#open.delete(socket);
      if (this.#withoutRequest.get(key) === socket) this.#withoutRequest.delete(key);
      if (address !== undefined) this.#removeFrom(address);
    });
    this.#dropOldestSilent();
  }

  /** Marks that a complete request arrived on this socket, or on the TLS socket over it. */
  markRequest(socket: Socket): void {
    this.#withoutRequest.delete(keyOf(socket));
  }

  /** Whether no request has arrived on this socket yet. */
  isWithoutRequest(socket: Socket): boolean {
    return this.#withoutRequest.has(keyOf(socket));
  }

  clear(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** The oldest silent connection is dropped first, so that silent ones cannot lock out others. */
  #dropOldestSilent(): void {
    const [oldest] = this.#withoutRequest.values();
    if (this.#withoutRequest.size > this.#limits.withoutRequest && oldest) this.#drop(oldest, 'withoutRequest');
  }

  #exceededLimit(address: string | undefined): DropReason | undefined {
    if (this.#open.size >= this.#limits.total) return 'total';
    return address !== undefined && this.#countOf(address) >= this.#limits.perAddress ? 'perAddress' : undefined;
  }

  #countOf(address: string): number {
    return this.#perAddress.get(address) ?? 0;
  }

  #removeFrom(address: string): void {
    const others = this.#countOf(address) - 1;
    if (others > 0) this.#perAddress.set(address, others);
    else this.#perAddress.delete(address);
  }

  #drop(socket: Socket, reason: DropReason): void {
    this.#onDrop(reason);
    socket.destroy();
  }
}

/**
 * The same key for a TCP connection and the TLS socket over it. Connections over a socket file have no port and no TLS.
 */
const keyOf = (socket: Socket): Key =>
  socket.remotePort === undefined ? socket : `${socket.remoteAddress} ${socket.remotePort}`;
