import type { CommandOutput } from '../../../agent/tools/bash/command-output.ts';
import type { ShellRun } from '../../../agent/tools/bash/shell.ts';

/** Replaces the shell of the bash tool, for example with a remote one. */
export interface BashOperations {
  readonly exec: (command: string, cwd: string, options: BashExecOptions) => Promise<{ exitCode: number | null }>;
}

export interface BashExecOptions {
  readonly onData: (data: Buffer) => void;
  readonly signal?: AbortSignal | undefined;
  /** In seconds. */
  readonly timeout?: number | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Replaces the file access of the file tools. */
export interface FileToolOperations {
  readonly readFile: (path: string) => Promise<Buffer>;
  readonly writeFile: (path: string, content: string) => Promise<void>;
  /** Rejects if the file cannot be used. */
  readonly access: (path: string) => Promise<void>;
  readonly mkdir: (folder: string) => Promise<void>;
  readonly detectImageMimeType?: (path: string) => Promise<string | null | undefined>;
}

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
  const { CommandOutput } = await import('../../../agent/tools/bash/command-output.ts');
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
