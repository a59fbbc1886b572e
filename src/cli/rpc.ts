import type { ClientConnection } from '../engine/client-connection.ts';
import type { Engine } from '../engine/open.ts';
import { watchParent } from '../system/exit-signals.ts';
import { stdioLink } from '../wire/stdio.node.ts';
import { compileLater } from './compile-later.ts';
import type { CliArguments } from './flags.ts';
import { commandsFinished, closeOnSignal, openAgentEngine, flushed } from './lifetime.ts';

/** Serves one client over stdin and stdout, or clients of a socket one after another, until there is nobody to serve. */
export async function rpc(args: CliArguments): Promise<number> {
  const link = args.socket === undefined ? stdioLink() : undefined;
  const engine = await openAgentEngine(args);
  if (!engine) return 1;
  compileLater();
  if (!link) return (await import('./socket.ts')).serveSocket(engine, args.socket ?? '');
  // Before the first record: whoever has read that may send a signal.
  let connection: ClientConnection | undefined;
  closeOnSignal(engine, async () => connection && flushed(connection));
  connection = engine.connect(link, { isLastClient: true });
  const parent = watchParent(() => process.kill(process.pid, 'SIGHUP'));
  await waitForEnd(engine, connection, { abort: args['on-eof'] === 'abort' });
  parent.stop();
  return 0;
}

const CLOSE_REASONS = { closed: 'stdout closed', ended: 'stdin closed', requested: 'an extension asked for it' };

/** Settles when the client has no more to say and has been told everything, or has gone. */
async function waitForEnd(engine: Engine, connection: ClientConnection, { abort }: { abort: boolean }): Promise<void> {
  const { link } = connection;
  const closed = new Promise<'gone'>((resolve) => link.onClose(() => resolve('gone')));
  const ended = new Promise<'ended'>((resolve) => link.onEnd(() => resolve('ended')));
  const requested = engine.exitRequested.then(() => 'left' as const);
  const cause = await Promise.race([closed, ended, requested]);
  if (cause === 'ended' && !abort) await Promise.race([commandsFinished(engine, connection), closed]);
  await engine.close(CLOSE_REASONS[cause]);
  await Promise.race([flushed(connection), closed]);
}
