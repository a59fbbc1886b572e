import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Two ends of one connection, with what was done to it. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Nothing arrives any more, and nobody is told. */
  isDeaf: boolean;
  /** Bytes that the client still gets before the connection is cut; undefined: all. */
  left: number | undefined;
}

/** The way of one client to the server, on which everything can go wrong that goes wrong on networks. */
export class Line {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();

  private constructor(server: Server, target: number) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    server.on('connection', (client) => this.#join(client, connect(target, '127.0.0.1')));
    onTestFinished(() => this.close());
  }

  static async to(target: number): Promise<Line> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Line(server, target);
  }

  /** Whether there is anything to disturb. */
  get isInUse(): boolean {
    return [...this.#pairs].some(({ isDeaf }) => !isDeaf);
  }

  /** Both sides are told that the connection is no more. */
  reset(): void {
    for (const pair of this.#pairs) this.#part(pair);
  }

  /** The client gets so many more bytes, be that in the middle of a frame. */
  cutAfter(bytes: number): void {
    for (const pair of this.#pairs) pair.left = bytes;
  }

  /** Nothing arrives until something else has happened, on either side, but nothing is lost. */
  async delay(end: Promise<void>): Promise<void> {
    const held = [...this.#pairs].flatMap(({ client, server }) => [client, server]);
    for (const socket of held) socket.pause();
    await end;
    for (const socket of held) socket.resume();
  }

  /** What is sent from now on is lost, on either side, and neither knows. */
  goDeaf(): void {
    for (const pair of this.#pairs) {
      pair.isDeaf = true;
      for (const socket of [pair.client, pair.server]) socket.resume();
    }
  }

  /** The clients of connections that are deaf are told so; the server is not. */
  tellClients(): void {
    for (const { client, isDeaf } of this.#pairs) if (isDeaf) client.resetAndDestroy();
  }

  close(): void {
    this.#server.close();
    this.reset();
  }

  #join(client: Socket, server: Socket): void {
    const pair: Pair = { client, server, isDeaf: false, left: undefined };
    this.#pairs.add(pair);
    client.on('data', (bytes) => carry(pair, bytes, { from: client, to: server }));
    server.on('data', (bytes) => this.#deliver(pair, bytes));
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay().on('error', () => {});
      to.on('drain', () => from.resume());
      from.on('close', () => {
        if (client.destroyed && server.destroyed) this.#pairs.delete(pair);
        if (!pair.isDeaf) to.destroy();
      });
    }
  }

  #deliver(pair: Pair, bytes: Buffer): void {
    const { client, server, left = Number.POSITIVE_INFINITY } = pair;
    if (bytes.length <= left) carry(pair, bytes, { from: server, to: client });
    else {
      client.end(bytes.subarray(0, left));
      server.resetAndDestroy();
    }
    if (pair.left !== undefined) pair.left = Math.max(0, left - bytes.length);
  }

  #part({ client, server }: Pair): void {
    client.resetAndDestroy();
    server.resetAndDestroy();
  }
}

/** A side that reads slowly slows the other one down, as without anything in between. */
function carry({ isDeaf }: Pair, bytes: Buffer, { from, to }: { from: Socket; to: Socket }): void {
  if (!isDeaf && !to.destroyed && !to.write(bytes)) from.pause();
}
