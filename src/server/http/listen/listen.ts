import type { AddressInfo } from 'node:net';
import { listenOnSocketFile } from '../../../system/files/socket-file.ts';
import { LimitedServer, type ServerOptions } from './limited-server.ts';
import { listenAddress, listenError } from './listen-address.ts';
import type { Tls } from './tls-files.ts';

export interface ListenOptions extends ServerOptions {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly socketPath?: string | undefined;
  readonly tls?: Tls | undefined;
  readonly behindProxy?: boolean;
}

export interface ListeningServer {
  readonly address: string;
  readonly port: number;
  /** Stops listening, waits briefly for running responses, then drops all connections, including upgraded sockets. */
  close(): Promise<void>;
}

/** Listens for HTTP or HTTPS, and on a socket file if configured. Rejects with a sentence that says what to do. */
export async function listenHttp(options: ListenOptions): Promise<ListeningServer> {
  const { host, port, socketPath, tls, behindProxy = false } = options;
  const address = await listenAddress({ host, port, isEncrypted: tls !== undefined || behindProxy });
  const remote = new LimitedServer(options, { tls, limitsPerAddress: !behindProxy });
  await new Promise<void>((resolve, reject) => {
    // The listener stays: a connection that cannot be accepted must not end the server.
    remote.server.on('error', (error) => reject(listenError(error, { host, port })));
    remote.server.listen(port, address, resolve);
  });
  const bound = remote.server.address() as AddressInfo;
  const local = socketPath === undefined ? undefined : new LimitedServer(options, { isOwnerOnly: true });
  const close = async () => {
    await Promise.all([remote.close(), local?.close()]);
  };
  if (local && socketPath !== undefined) {
    await listenOnSocketFile(local.server, socketPath).catch(async (error: NodeJS.ErrnoException) => {
      await close();
      throw new Error(
        `cannot listen on ${socketPath}: ${error.code === 'EADDRINUSE' ? 'it is in use' : error.message}`,
      );
    });
  }
  return { address: bound.address, port: bound.port, close };
}
