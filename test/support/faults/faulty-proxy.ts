import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Both sockets of one proxied connection, and its faults. */
interface ProxiedConnection {
  readonly client: Socket;
  readonly server: Socket;
  /** Discards all bytes without closing either side. */
  dropsBytes: boolean;
  /** Bytes that still reach the client before the connection is cut; undefined for no limit. */
  bytesLeft: number | undefined;
}

/** A TCP proxy between one client and the server that injects network faults. */
export class FaultyProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #connections = new Set<ProxiedConnection>();
  #isBlackHole = false;

  private constructor(server: Server, target: number) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    server.on('connection', (client) => this.#connect(client, connect(target, '127.0.0.1')));
    onTestFinished(() => this.close());
  }

  static async to(target: number): Promise<FaultyProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultyProxy(server, target);
  }

  /** Whether a connection exists that still forwards bytes. */
  get isInUse(): boolean {
    return [...this.#connections].some(({ dropsBytes }) => !dropsBytes);
  }

  /** Resets both sides of every connection. */
  reset(): void {
    for (const connection of this.#connections) this.#reset(connection);
  }

  /** Cuts every connection after this many bytes to the client, even inside a frame. */
  cutAfter(bytes: number): void {
    for (const connection of this.#connections) connection.bytesLeft = bytes;
  }

  /** Holds all bytes in both directions until `end`, without losing any. */
  async delay(end: Promise<void>): Promise<void> {
    const held = [...this.#connections].flatMap(({ client, server }) => [client, server]);
    for (const socket of held) socket.pause();
    await end;
    for (const socket of held) socket.resume();
  }

  /** Discards all further bytes in both directions; neither side notices. */
  dropBytes(): void {
    for (const connection of this.#connections) {
      connection.dropsBytes = true;
      for (const socket of [connection.client, connection.server]) socket.resume();
    }
  }

  /** Discards all further bytes, also those of new connections. */
  swallow(): void {
    this.#isBlackHole = true;
    this.dropBytes();
  }

  /** Forwards the bytes of new connections again, and resets those whose bytes were discarded. */
  recover(): void {
    this.#isBlackHole = false;
    this.reset();
  }

  /** Resets the clients whose bytes are discarded, but not the server. */
  resetDroppedClients(): void {
    for (const { client, dropsBytes } of this.#connections) if (dropsBytes) client.resetAndDestroy();
  }

  close(): void {
    this.#server.close();
    this.reset();
  }

  #connect(client: Socket, server: Socket): void {
    const connection: ProxiedConnection = { client, server, dropsBytes: this.#isBlackHole, bytesLeft: undefined };
    this.#connections.add(connection);
    client.on('data', (bytes) => forward(connection, bytes, { from: client, to: server }));
    server.on('data', (bytes) => this.#forwardToClient(connection, bytes));
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay().on('error', () => {});
      to.on('drain', () => from.resume());
      from.on('close', () => {
        if (client.destroyed && server.destroyed) this.#connections.delete(connection);
        if (!connection.dropsBytes) to.destroy();
      });
    }
  }

  #forwardToClient(connection: ProxiedConnection, bytes: Buffer): void {
    const { client, server, dropsBytes, bytesLeft = Number.POSITIVE_INFINITY } = connection;
    // No network delivers bytes after others of the same connection were lost.
    if (dropsBytes) return;
    if (bytes.length <= bytesLeft) forward(connection, bytes, { from: server, to: client });
    else {
      client.end(bytes.subarray(0, bytesLeft));
      server.resetAndDestroy();
    }
    if (connection.bytesLeft !== undefined) connection.bytesLeft = Math.max(0, bytesLeft - bytes.length);
  }

  #reset({ client, server }: ProxiedConnection): void {
    client.resetAndDestroy();
    server.resetAndDestroy();
  }
}

/** Forwards bytes and passes backpressure on to the sender. */
function forward({ dropsBytes }: ProxiedConnection, bytes: Buffer, { from, to }: { from: Socket; to: Socket }): void {
  if (!dropsBytes && !to.destroyed && !to.write(bytes)) from.pause();
}
