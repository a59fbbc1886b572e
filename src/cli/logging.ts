import { Refusal } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import { type CliArguments, UsageError } from './flags/flags.ts';

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
export const logOpenFailure = (log: Log | undefined, error: unknown): void =>
  log?.write('error', 'process', 'could not open', {
    code: error instanceof Refusal ? error.code : (error as Partial<NodeJS.ErrnoException> | undefined)?.code,
  });
