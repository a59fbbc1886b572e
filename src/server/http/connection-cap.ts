import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** Connections at a time, sockets that were upgraded among them. */
  readonly total: number;
  /** Connections at a time from one address. */
  readonly perAddress: number;
  /** Connections at a time that have not asked for anything yet. */
  readonly withoutRequest: number;
}

/** Why a connection was cut off. */
export type DropReason = keyof ConnectionLimits;

type Key = string | Socket;

/** Keeps count of connections and cuts off those that are too many. */
export class ConnectionCap {
  readonly #limits: ConnectionLimits;
  readonly #onDrop: (reason: DropReason) => void;
  readonly #open = new Set<Socket>();
  readonly #perAddress = new Map<string, number>();
  /** By `keyOf`, the longest waiting first. */
  readonly #withoutRequest = new Map<Key, Socket>();

  constructor(limits: ConnectionLimits, onDrop: (reason: DropReason) => void) {
    this.#limits = limits;
    this.#onDrop = onDrop;
  }

  /** Somebody has connected. `address` is undefined where it does not tell people apart. */
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

  /** A request has come whole over this socket, or over the one below it. */
  markRequest(socket: Socket): void {
    this.#withoutRequest.delete(keyOf(socket));
  }

  /** Whether nothing has been answered over this socket yet. */
  isWithoutRequest(socket: Socket): boolean {
    return this.#withoutRequest.has(keyOf(socket));
  }

  /** Cuts off everybody. */
  clear(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Those who have been silent the longest go first: whoever holds connections open in silence locks nobody out. */
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

/** The same for a TCP connection and for the TLS inside it. Those over a socket file have no port, and no TLS. */
const keyOf = (socket: Socket): Key =>
  socket.remotePort === undefined ? socket : `${socket.remoteAddress} ${socket.remotePort}`;
