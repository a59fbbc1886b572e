import type { Connection } from '../engine/connection.ts';
import { type Engine, openEngine } from '../engine/open.ts';
import { Refusal } from '../protocol/errors.ts';
import { onExitSignal } from '../system/exit-signals.ts';
import { watchParent } from '../system/parent-watch.ts';
import type { Dialect } from '../wire/dialect.ts';
import { stdioLink } from '../wire/stdio.node.ts';
import type { Arguments } from './flags.ts';
import { engineOptions } from './options.ts';

/** How long a client that does not read may delay the end after a signal. */
const LAST_WORDS_MS = 500;

/** Serves one client over stdin and stdout, or clients of a socket one after another, until there is nobody to serve. */
export async function rpc(args: Arguments): Promise<number> {
  const link = args.socket === undefined ? stdioLink() : undefined;
  const engine = await opened(args);
  if (!engine) return 1;
  if (!link) return (await import('./socket.ts')).serveSocket(engine, args.socket ?? '');
  // Before the first record: whoever has read that may send a signal.
  const connections: Connection[] = [];
  leaveOnSignal(engine, () => connections);
  const connection = engine.connect(link);
  connections.push(connection);
  const parent = watchParent(() => process.kill(process.pid, 'SIGHUP'));
  await over(engine, connection, { abort: args['on-eof'] === 'abort' });
  parent.stop();
  return 0;
}

/** Opens the agent; what stands in the way goes to stderr, and nothing to stdout. */
export async function opened(args: Arguments, dialect: Partial<Dialect> = {}): Promise<Engine | undefined> {
  try {
    const options = await engineOptions(args);
    const engine = await openEngine({ ...options, dialect: { ...options.dialect, ...dialect } });
    for (const warning of engine.warnings) process.stderr.write(`tau: ${warning}\n`);
    return engine;
  } catch (error) {
    if (!(error instanceof Refusal) && !isSystemError(error)) throw error;
    process.stderr.write(`${error.message}\n`);
    return undefined;
  }
}

/** A folder that cannot be made, a full disk: the user's to mend, not a bug to trace. */
const isSystemError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && 'syscall' in error;

/** Settles when the client has no more to say and has been told everything, or has gone. */
async function over(engine: Engine, connection: Connection, { abort }: { abort: boolean }): Promise<void> {
  const { link } = connection;
  const gone = new Promise<'gone'>((resolve) => link.onClose(() => resolve('gone')));
  const ended = new Promise<'ended'>((resolve) => link.onEnd(() => resolve('ended')));
  const how = await Promise.race([gone, ended]);
  if (how === 'ended' && !abort) await Promise.race([finished(engine, connection), gone]);
  await leave(engine);
  await Promise.race([told(connection), gone]);
}

/** Everything the client has sent, also what waits because it reads slowly, is done. */
async function finished(engine: Engine, connection: Connection): Promise<void> {
  await connection.answered();
  await engine.idle();
}

/** Stops and stores everything, and ends every process that was started. */
export async function leave(engine: Engine): Promise<void> {
  await engine.close();
  const { killAllGroups } = await import('../system/process-group.ts');
  await killAllGroups();
}

/** On a signal everything stops and is stored; the clients hear of it if they listen. */
export function leaveOnSignal(engine: Engine, connections: () => Connection[]): void {
  onExitSignal(async () => {
    await leave(engine);
    const patience = new Promise<void>((resolve) => setTimeout(resolve, LAST_WORDS_MS).unref());
    await Promise.race([Promise.all(connections().map(told)), patience]);
  });
}

async function told({ outbox, link }: Connection): Promise<void> {
  await outbox.flush();
  await link.flush();
}
