import type { CommandOutput } from '../../agent/tools/command-output.ts';
import type { ShellRun } from '../../agent/tools/shell.ts';
import type { BashOperations, BashExecOptions } from './bash-backend.ts';

// A command for the backend of an extension.
interface BackendCommand {
  readonly command: string;
  readonly cwd: string;
  readonly env?: BashExecOptions['env'];
  // 0 means no timeout.
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly onOutput?: (output: CommandOutput) => void;
}

/** Runs a command in the backend of an extension. Never rejects: a failure is part of the result. */
export async function runBashBackend({ exec }: BashOperations, job: BackendCommand): Promise<ShellRun> {
  const { CommandOutput } = await import('../../agent/tools/command-output.ts');
  const { command, cwd, env, seconds, signal, onOutput } = job;
  const output = new CommandOutput();
  const onData = (data: Buffer) => {
    output.add(Buffer.from(data));
    onOutput?.(output);
  };
  const options = { onData, signal, ...(env ? { env } : {}), ...(seconds > 0 ? { timeout: seconds } : {}) };
  const ending = await (async () => exec(command, cwd, options))().then(exitResult, failureResult);
  output.end();
  const tail = output.tail();
  output.log?.keep();
  return { output, tail, ...ending, ...(signal.aborted ? { end: 'aborted' } : {}) };
}

type Ending = Pick<ShellRun, 'exit' | 'end'>;

// The extension may return anything.
function exitResult(result: { exitCode?: unknown } | undefined): Ending {
  const code = result?.exitCode;
  return { exit: { code: Number.isInteger(code) ? (code as number) : null, signal: null }, end: 'exited' };
}

// By pi's contract, a backend reports an abort or a timeout with these error messages.
function failureResult(thrown: unknown): Ending {
  const error: NodeJS.ErrnoException = thrown instanceof Error ? thrown : new Error(String(thrown));
  const end = error.message === 'aborted' ? 'aborted' : error.message.startsWith('timeout:') ? 'timed out' : 'exited';
  return { exit: { code: null, signal: null, error }, end };
}
