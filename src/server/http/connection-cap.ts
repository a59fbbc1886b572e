import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** Connections at a time, sockets that were upgraded among them. */
  readonly total: number;
  /** Connections at a time from one address. */
  readonly perAddress: number;
  /** Connections at a time that have not asked for anything yet. */
  readonly unasked: number;
}

/** Why a connection was cut off. */
export type CutOff = keyof ConnectionLimits;

type Key = string | Socket;

/** Keeps count of connections and cuts off those that are too many. */
export class ConnectionCap {
  readonly #limits: ConnectionLimits;
  readonly #onCutOff: (why: CutOff) => void;
  readonly #open = new Set<Socket>();
  readonly #perAddress = new Map<string, number>();
  /** By `keyOf`, the longest waiting first. */
  readonly #unasked = new Map<Key, Socket>();

  constructor(limits: ConnectionLimits, onCutOff: (why: CutOff) => void) {
    this.#limits = limits;
    this.#onCutOff = onCutOff;
  }

  /** Somebody has connected. `address` is undefined where it does not tell people apart. */
  connected(socket: Socket, address: string | undefined): void {
    const why = this.#excess(address);
    if (why) {
      this.#cutOff(socket, why);
      return;
    }
    const key = keyOf(socket);
    this.#open.add(socket);
    this.#unasked.set(key, socket);
    if (address !== undefined) this.#perAddress.set(address, this.#of(address) + 1);
    socket.once('close', () => {
      this.#open.delete(socket);
      if (this.#unasked.get(key) === socket) this.#unasked.delete(key);
      if (address !== undefined) this.#left(address);
    });
    this.#makeRoom();
  }

  /** A request has come whole over this socket, or over the one below it. */
  asked(socket: Socket): void {
    this.#unasked.delete(keyOf(socket));
  }

  /** Whether nothing has been answered over this socket yet. */
  hasNotAsked(socket: Socket): boolean {
    return this.#unasked.has(keyOf(socket));
  }

  /** Cuts off everybody. */
  clear(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Those who have been silent the longest go first: whoever holds connections open in silence locks nobody out. */
  #makeRoom(): void {
    const [oldest] = this.#unasked.values();
    if (this.#unasked.size > this.#limits.unasked && oldest) this.#cutOff(oldest, 'unasked');
  }

  #excess(address: string | undefined): CutOff | undefined {
    if (this.#open.size >= this.#limits.total) return 'total';
    return address !== undefined && this.#of(address) >= this.#limits.perAddress ? 'perAddress' : undefined;
  }

  #of(address: string): number {
    return this.#perAddress.get(address) ?? 0;
  }

  #left(address: string): void {
    const others = this.#of(address) - 1;
    if (others > 0) this.#perAddress.set(address, others);
    else this.#perAddress.delete(address);
  }

  #cutOff(socket: Socket, why: CutOff): void {
    this.#onCutOff(why);
    socket.destroy();
  }
}

/** The same for a TCP connection and for the TLS inside it. Those over a socket file have no port, and no TLS. */
const keyOf = (socket: Socket): Key =>
  socket.remotePort === undefined ? socket : `${socket.remoteAddress} ${socket.remotePort}`;
