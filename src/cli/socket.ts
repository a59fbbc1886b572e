import type { ClientConnection } from '../engine/client-connection.ts';
import type { Engine } from '../engine/open.ts';
import { toLine } from '../wire/json-lines.ts';
import type { Link } from '../wire/link.ts';
import { listenUnix } from '../wire/socket.node.ts';
import { finished, leaveOnSignal, told } from './lifetime.ts';

/** Serves clients one after another; none of them ends anything by leaving. Only a signal, or an extension, ends this. */
export async function serveSocket(engine: Engine, path: string): Promise<number> {
  const served = new OneAtATime(engine);
  const server = await listenUnix(path, (link) => served.take(link)).catch((error: NodeJS.ErrnoException) => error);
  if (server instanceof Error) {
    await engine.close('the socket cannot be listened on');
    process.stderr.write(
      `tau: cannot listen on ${path}: ${server.code === 'EADDRINUSE' ? 'it is in use' : server.message}\n`,
    );
    return 1;
  }
  leaveOnSignal(
    engine,
    async () => served.current && told(served.current),
    () => server.close(),
  );
  await engine.exitRequested;
  await server.close();
  await engine.close('an extension asked for it');
  if (served.current) await told(served.current);
  return 0;
}

class OneAtATime {
  current: ClientConnection | undefined;
  readonly #engine: Engine;
  /** The client has sent its last command and only listens now. */
  #listening = false;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  take(link: Link): void {
    // A client that left a moment ago may not have been noticed yet: its leaving is in the same batch of events, and
    // if it left things unread its socket is reset, which is told only after the immediates of this batch.
    setImmediate(() => setImmediate(() => this.#serveOrRefuse(link)));
  }

  #serveOrRefuse(link: Link): void {
    if (this.current && this.#listening) this.#release(this.current);
    if (this.current) this.#refuse(link);
    else this.#serve(link);
  }

  #serve(link: Link): void {
    const connection = this.#engine.connect(link);
    this.current = connection;
    this.#listening = false;
    link.onClose(() => this.#forget(connection));
    link.onEnd(() => {
      this.#listening = true;
      void finished(this.#engine, connection)
        .then(() => told(connection))
        .then(() => this.#release(connection));
    });
  }

  #refuse(link: Link): void {
    link.write(toLine({ type: 'server_error', error: 'Another client is connected' }));
    link.close();
  }

  #release(connection: ClientConnection): void {
    connection.close();
    this.#forget(connection);
  }

  #forget(connection: ClientConnection): void {
    if (this.current === connection) this.current = undefined;
  }
}
