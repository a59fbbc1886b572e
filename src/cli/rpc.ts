import type { ClientConnection } from '../engine/client-connection.ts';
import type { Engine } from '../engine/open.ts';
import { watchParent } from '../system/exit-signals.ts';
import { stdioLink } from '../wire/stdio.node.ts';
import { compileLater } from './compile-later.ts';
import type { Arguments } from './flags.ts';
import { finished, leaveOnSignal, opened, told } from './lifetime.ts';

/** Serves one client over stdin and stdout, or clients of a socket one after another, until there is nobody to serve. */
export async function rpc(args: Arguments): Promise<number> {
  const link = args.socket === undefined ? stdioLink() : undefined;
  const engine = await opened(args);
  if (!engine) return 1;
  compileLater();
  if (!link) return (await import('./socket.ts')).serveSocket(engine, args.socket ?? '');
  // Before the first record: whoever has read that may send a signal.
  let connection: ClientConnection | undefined;
  leaveOnSignal(engine, async () => connection && told(connection));
  connection = engine.connect(link, { isLastClient: true });
  const parent = watchParent(() => process.kill(process.pid, 'SIGHUP'));
  await over(engine, connection, { abort: args['on-eof'] === 'abort' });
  parent.stop();
  return 0;
}

const ENDINGS = { gone: 'stdout closed', ended: 'stdin closed', left: 'an extension asked for it' };

/** Settles when the client has no more to say and has been told everything, or has gone. */
async function over(engine: Engine, connection: ClientConnection, { abort }: { abort: boolean }): Promise<void> {
  const { link } = connection;
  const gone = new Promise<'gone'>((resolve) => link.onClose(() => resolve('gone')));
  const ended = new Promise<'ended'>((resolve) => link.onEnd(() => resolve('ended')));
  const left = engine.exitRequested.then(() => 'left' as const);
  const how = await Promise.race([gone, ended, left]);
  if (how === 'ended' && !abort) await Promise.race([finished(engine, connection), gone]);
  await engine.close(ENDINGS[how]);
  await Promise.race([told(connection), gone]);
}
