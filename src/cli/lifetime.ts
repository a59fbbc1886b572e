import type { ClientConnection } from '../engine/client-connection.ts';
import { type Engine, openEngine } from '../engine/open.ts';
import { messageOf, Refusal } from '../protocol/errors.ts';
import { agentDir, pathWithPrograms } from '../store/agent-dir.ts';
import { onExitCall } from '../system/exit-call.ts';
import { onExitSignal } from '../system/exit-signals.ts';
import type { Log } from '../system/log.ts';
import { warn } from '../system/terminal-text.ts';
import { onFatalError } from '../system/uncaught-errors.ts';
import { withTimeout } from '../system/with-timeout.ts';
import type { Dialect } from '../wire/dialect.ts';
import { engineOptions } from './engine-options.ts';
import { type CliArguments, UsageError } from './flags/flags.ts';

// The longest delay of an exit by a client that does not read.
const SIGNAL_FLUSH_TIMEOUT_MS = 500;

/** Opens the engine for a command; errors go to stderr, and nothing goes to stdout. */
export async function openAgentEngine(args: CliArguments, dialect: Partial<Dialect> = {}): Promise<Engine | undefined> {
  let log: Log | undefined;
  try {
    log = await openRequestedLog(args);
    identifyProcess(process.env);
    const options = await engineOptions(args);
    const engine = await openEngine({ ...options, log, dialect: { ...options.dialect, ...dialect } });
    useProxy(engine.agent.project.settings.httpProxy, process.env);
    for (const warning of engine.warnings) warn(warning);
    return engine;
  } catch (error) {
    logOpenFailure(log, error);
    if (!(error instanceof Refusal) && !isSystemError(error)) throw error;
    warn(error.message);
    return undefined;
  }
}

/**
 * Sets the variables by which extensions, and the programs that they start themselves, recognize an agent; gives them the
 * PATH of commands.
 */
function identifyProcess(env: NodeJS.ProcessEnv): void {
  env['AI_AGENT'] = 'tau';
  env['PI_CODING_AGENT'] = 'true';
  env['PATH'] = pathWithPrograms(agentDir(env), env['PATH']);
}

/** The proxy of the settings, for model servers and for the programs that tools start; variables override it. */
function useProxy(proxy: string | undefined, env: NodeJS.ProcessEnv): void {
  if (proxy === undefined) return;
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY'])
    if (!env[name] && !env[name.toLowerCase()] && !env['all_proxy'] && !env['ALL_PROXY']) env[name] = proxy;
}

/** Whether the operating system caused the error, such as a full disk; such errors get no stack trace. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error;

/** On a signal, calls `first`, stops and stores all work, and flushes within a timeout. */
export function closeOnSignal(engine: Engine, flush: () => Promise<unknown>, first = () => {}): void {
  onExitSignal(async (signal) => {
    first();
    await engine.close(signal);
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, SIGNAL_FLUSH_TIMEOUT_MS).unref());
    await Promise.race([flush(), timeout]);
  });
}

// The longest delay of an exit by work that does not stop.
const FATAL_CLOSE_TIMEOUT_MS = 3000;

/**
 * After a fatal error or a call of `process.exit` (by an extension), stops and stores all work and sends `agent_exiting`
 * as the last record.
 */
export function closeOnUnexpectedExit(engine: Engine, flush: () => Promise<unknown>): void {
  // The log gets the cause only, because the message of an error may quote file contents.
  const close = async (cause: string, exit: { code: number; reason: string }) => {
    const ignore = () => {};
    await withTimeout(FATAL_CLOSE_TIMEOUT_MS, engine.close(cause), 'It takes too long').catch(ignore);
    engine.agent.broadcast.publish({ type: 'agent_exiting', ...exit });
    await withTimeout(SIGNAL_FLUSH_TIMEOUT_MS, flush(), 'It takes too long').catch(ignore);
  };
  onFatalError((error) => close('a fatal error', { code: 1, reason: messageOf(error) }));
  onExitCall((code, reason) => close(reason, { code, reason }));
}

/** Resolves when all records have been written to the client. */
export async function flushed({ eventQueue, link }: ClientConnection): Promise<void> {
  await eventQueue.flush();
  await link.flush();
}

/** Resolves when all commands of the client are finished, including those delayed by slow reading. */
export async function commandsFinished(engine: Engine, connection: ClientConnection): Promise<void> {
  await connection.response();
  await engine.finished();
}

/** Opens the log if a flag or TAU_LOG requests one. */
export async function openRequestedLog(args: CliArguments, mode = modeOf(args)): Promise<Log | undefined> {
  const file = args['log-file'];
  const level = args['log-level'] ?? (process.env['TAU_LOG'] || undefined);
  if (level === undefined && file === undefined) return undefined;
  const { logLevels, openLog } = await import('../system/log.ts');
  const known = logLevels.find((candidate) => candidate === (level ?? 'info'));
  if (!known) throw new UsageError(`TAU_LOG must be one of ${logLevels.join(', ')}`);
  const log = openLog({ level: known, file });
  log.write('info', 'process', 'started', { mode, pid: process.pid, node: process.version });
  return log;
}

const modeOf = (args: CliArguments) =>
  args.socket === undefined ? (args.mode ?? (args.print ? 'text' : 'chat')) : 'socket';

/** Logs the error code only, because the message may quote file contents. */
const logOpenFailure = (log: Log | undefined, error: unknown): void =>
  log?.write('error', 'process', 'could not open', {
    code: error instanceof Refusal ? error.code : (error as Partial<NodeJS.ErrnoException> | undefined)?.code,
  });
