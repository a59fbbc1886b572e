import type { ClientConnection } from '../engine/client-connection.ts';
import type { Engine } from '../engine/open.ts';
import { watchParent } from '../system/exit-signals.ts';
import { isGuardedByParent } from '../system/processes/process-tag.ts';
import { stdioLink } from '../wire/stdio.node.ts';
import type { CliArguments } from './flags/flags.ts';
import { closeOnSignal, closeOnUnexpectedExit, commandsFinished, flushed, openAgentEngine } from './lifetime.ts';

/** `tau --mode rpc`: serves one client over stdio, or clients of a socket one after another. */
export async function rpc(args: CliArguments): Promise<number> {
  const link = args.socket === undefined ? stdioLink() : undefined;
  const engine = await openAgentEngine(args);
  if (!engine) return 1;
  compileLater();
  if (!link) return (await import('./socket.ts')).serveSocket(engine, args.socket ?? '');
  // Before the first record, because a client that has read it may send a signal.
  let connection: ClientConnection | undefined;
  const flush = async () => connection && flushed(connection);
  closeOnSignal(engine, flush);
  closeOnUnexpectedExit(engine, flush);
  connection = engine.connect(link, { isLastClient: true });
  const parent = isGuardedByParent() ? undefined : watchParent(() => process.kill(process.pid, 'SIGHUP'));
  await waitForEnd(engine, connection, { abort: args['on-eof'] === 'abort' });
  parent?.stop();
  return 0;
}

const CLOSE_REASONS = { closed: 'stdout closed', ended: 'stdin closed', requested: 'an extension requested it' };

/** Resolves when the client has closed stdin and got every record, or has closed stdout. */
async function waitForEnd(engine: Engine, connection: ClientConnection, { abort }: { abort: boolean }): Promise<void> {
  const { link } = connection;
  const closed = new Promise<'closed'>((resolve) => link.onClose(() => resolve('closed')));
  const ended = new Promise<'ended'>((resolve) => link.onEnd(() => resolve('ended')));
  const requested = engine.exitRequested.then(() => 'requested' as const);
  const cause = await Promise.race([closed, ended, requested]);
  if (cause === 'ended' && !abort) await Promise.race([commandsFinished(engine, connection), closed]);
  await engine.close(CLOSE_REASONS[cause]);
  await Promise.race([flushed(connection), closed]);
}

// Bytecode executed before V8 optimises a function; four times the default of Node 20.
const INTERRUPT_BUDGET = 300_000;

// Later versions of V8 do not have the flag, and print an error.
const LAST_V8_WITH_BUDGET = 11;

// Keeps this work out of the start-up time.
const DELAY_MS = 100;

/**
 * Delays V8's optimisation. Most functions of an agent run a few hundred times: optimising them took nearly half of the
 * CPU time of a turn and was rarely worth it.
 */
function compileLater(): void {
  if (Number.parseInt(process.versions.v8, 10) > LAST_V8_WITH_BUDGET) return;
  const set = async () => {
    const { setFlagsFromString } = await import('node:v8');
    setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
  };
  setTimeout(() => void set(), DELAY_MS).unref();
}
