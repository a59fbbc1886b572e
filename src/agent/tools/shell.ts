import { closeSync, existsSync, statSync } from 'node:fs';
import { clampTimeout } from '../../system/with-timeout.ts';
import { openPipe } from '../../system/processes/pipe.ts';
import { PipeReader } from '../../system/processes/pipe-reader.ts';
import { type ProcessExit, type GroupProcess, spawnGroup } from '../../system/processes/process-group.ts';
import { CommandOutput } from './command-output.ts';
import type { Truncation } from './truncate.ts';

/** How often a running command shows what it printed. */
const UPDATE_MS = 100;

export interface ShellOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What else a command is told when it starts. */
  readonly dynamicEnv?: (() => Readonly<Record<string, string | undefined>>) | undefined;
  readonly shellPath?: string | undefined;
  /** A line put before every command. */
  readonly commandPrefix?: string | undefined;
  /** Whose processes these are: what is left of them ends together. */
  readonly family: string;
  /** How much of a long output is kept on disk. */
  readonly logBytes?: number | undefined;
}

export interface ShellJob {
  readonly command: string;
  /** After which it is killed; 0 is never. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  readonly onStart?: () => void;
  /** Called when there is more, but not all the time. */
  readonly onOutput: (output: CommandOutput) => void;
}

/** How a command went. */
export interface ShellRun {
  readonly output: CommandOutput;
  /** The end of what it printed; if that is not all, the whole is in the log of the output. */
  readonly tail: Truncation;
  readonly exit: ProcessExit;
  readonly end: 'exited' | 'timed out' | 'aborted';
}

/** Runs a command to its end, its timeout or the abort. What it leaves in the background may go on printing. */
export async function runShell(options: ShellOptions, job: ShellJob): Promise<ShellRun> {
  if (!statSync(options.cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`Working directory does not exist: ${options.cwd}\nCannot execute bash commands.`);
  }
  const output = new CommandOutput(options);
  let nextUpdate: NodeJS.Timeout | undefined;
  const publishOutput = () => {
    clearTimeout(nextUpdate);
    nextUpdate = undefined;
    if (output.hasGrown()) job.onOutput(output);
  };
  const pipe = await openPipe();
  const reader = new PipeReader(pipe.read, (bytes) => {
    output.add(bytes);
    nextUpdate ??= setTimeout(publishOutput, UPDATE_MS);
  });
  const child = job.signal.aborted ? undefined : start(options, job.command, pipe.write);
  closeSync(pipe.write);
  if (child) job.onStart?.();
  const ending = child ? withSettingName(await waitForEnd(child, job), options) : NOT_STARTED;
  reader.drain();
  output.end();
  publishOutput();
  const tail = output.tail();
  output.log?.keep();
  reader.redirectTo(output.log);
  return { output, tail, ...ending };
}

type Ending = Pick<ShellRun, 'exit' | 'end'>;

const NOT_STARTED: Ending = { exit: { code: null, signal: null }, end: 'aborted' };

function start(options: ShellOptions, command: string, output: number): GroupProcess {
  return spawnGroup({
    command: options.shellPath ?? defaultShell(),
    args: ['-c', [options.commandPrefix, command].filter(Boolean).join('\n')],
    cwd: options.cwd,
    env: { ...options.env, ...options.dynamicEnv?.() },
    output,
    family: options.family,
  });
}

/** Waits until the command has ended, of itself or because it must. */
async function waitForEnd(child: GroupProcess, { timeoutSeconds, signal }: ShellJob): Promise<Ending> {
  let timedOut = false;
  const expired = () => {
    timedOut = true;
    void child.kill();
  };
  const stop = () => void child.kill();
  const timer = timeoutSeconds > 0 ? setTimeout(expired, clampTimeout(timeoutSeconds * 1000)) : undefined;
  signal.addEventListener('abort', stop, { once: true });
  const exit = await child.exited;
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
  if (timedOut || signal.aborted) await child.kill();
  if (signal.aborted) return { exit, end: 'aborted' };
  return { exit, end: timedOut ? 'timed out' : 'exited' };
}

/** A shell that the user named and that cannot be started is told by where it was named. */
function withSettingName(ending: Ending, { shellPath }: ShellOptions): Ending {
  const { error } = ending.exit;
  if (!error || shellPath === undefined) return ending;
  const explained = new Error(`The shell of settings.json (shellPath) cannot be started: ${error.message}`, {
    cause: error,
  });
  return { ...ending, exit: { ...ending.exit, error: explained } };
}

/** The shell that runs commands when the settings name none. */
export const defaultShell = () => (existsSync('/bin/bash') ? '/bin/bash' : 'sh');
