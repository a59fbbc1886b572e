import type { ClientConnection } from '../engine/client-connection.ts';
import { type Engine, openEngine } from '../engine/open.ts';
import { Refusal } from '../protocol/errors.ts';
import { onExitSignal } from '../system/exit-signals.ts';
import type { Log } from '../system/log.ts';
import type { Dialect } from '../wire/dialect.ts';
import type { CliArguments } from './flags.ts';
import { logOpenFailure, openRequestedLog } from './logging.ts';
import { engineOptions } from './engine-options.ts';

/** How long a client that does not read may delay the end after a signal. */
const SIGNAL_FLUSH_TIMEOUT_MS = 500;

/** Opens the agent; what stands in the way goes to stderr, and nothing to stdout. */
export async function openAgentEngine(args: CliArguments, dialect: Partial<Dialect> = {}): Promise<Engine | undefined> {
  let log: Log | undefined;
  try {
    log = await openRequestedLog(args);
    const options = await engineOptions(args);
    const engine = await openEngine({ ...options, log, dialect: { ...options.dialect, ...dialect } });
    for (const warning of engine.warnings) process.stderr.write(`tau: ${warning}\n`);
    return engine;
  } catch (error) {
    logOpenFailure(log, error);
    if (!(error instanceof Refusal) && !isSystemError(error)) throw error;
    process.stderr.write(`tau: ${error.message}\n`);
    return undefined;
  }
}

/** A folder that cannot be made, a full disk: the user's to mend, not a bug to trace. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error;

/**
 * On a signal everything stops and is stored; then whoever listens is told, unless it takes them too long. `first`:
 * before anything else.
 */
export function closeOnSignal(engine: Engine, flush: () => Promise<unknown>, first = () => {}): void {
  onExitSignal(async (signal) => {
    first();
    await engine.close(signal);
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, SIGNAL_FLUSH_TIMEOUT_MS).unref());
    await Promise.race([flush(), timeout]);
  });
}

/** Settles when everything said so far has gone out to the client. */
export async function flushed({ eventQueue: outbox, link }: ClientConnection): Promise<void> {
  await outbox.flush();
  await link.flush();
}

/** Settles when everything the client has sent is done, also what waits because it reads slowly. */
export async function commandsFinished(engine: Engine, connection: ClientConnection): Promise<void> {
  await connection.response();
  await engine.finished();
}
