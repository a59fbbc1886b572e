import type { ClientConnection } from '../engine/client-connection.ts';
import type { Engine } from '../engine/open.ts';
import { warn } from '../system/terminal-text.ts';
import { toLine } from '../wire/json-lines.ts';
import type { Link } from '../wire/link.ts';
import { listenUnix } from '../wire/socket.node.ts';
import { closeOnSignal, closeOnUnexpectedExit, commandsFinished, flushed } from './lifetime.ts';

/** Serves clients of a Unix socket one after another, until a signal or an extension ends it. */
export async function serveSocket(engine: Engine, path: string): Promise<number> {
  const clients = new SingleClientServer(engine);
  const server = await listenUnix(path, (link) => clients.accept(link)).catch((error: NodeJS.ErrnoException) => error);
  if (server instanceof Error) {
    await engine.close('the socket cannot be listened on');
    warn(`cannot listen on ${path}: ${server.code === 'EADDRINUSE' ? 'it is in use' : server.message}`);
    return 1;
  }
  const flush = async () => clients.current && flushed(clients.current);
  closeOnSignal(engine, flush, () => server.close());
  closeOnUnexpectedExit(engine, flush);
  await engine.exitRequested;
  await server.close();
  await engine.close('an extension requested it');
  if (clients.current) await flushed(clients.current);
  return 0;
}

class SingleClientServer {
  current: ClientConnection | undefined;
  readonly #engine: Engine;
  /** The client has closed its side and still reads. */
  #inputEnded = false;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  accept(link: Link): void {
    // The previous client's close may be in the same batch of events, or, if it left data unread, arrive as a reset
    // after the immediates of this batch.
    setImmediate(() => setImmediate(() => this.#serveOrReject(link)));
  }

  #serveOrReject(link: Link): void {
    if (this.current && this.#inputEnded) this.#release(this.current);
    if (this.current) this.#reject(link);
    else this.#serve(link);
  }

  #serve(link: Link): void {
    const connection = this.#engine.connect(link);
    this.current = connection;
    this.#inputEnded = false;
    link.onClose(() => this.#clearCurrent(connection));
    link.onEnd(() => {
      this.#inputEnded = true;
      void commandsFinished(this.#engine, connection)
        .then(() => flushed(connection))
        .then(() => this.#release(connection));
    });
  }

  #reject(link: Link): void {
    link.write(toLine({ type: 'server_error', error: 'Another client is connected' }));
    link.close();
  }

  #release(connection: ClientConnection): void {
    connection.close();
    this.#clearCurrent(connection);
  }

  #clearCurrent(connection: ClientConnection): void {
    if (this.current === connection) this.current = undefined;
  }
}
