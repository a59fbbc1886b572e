import { closeSync, existsSync, statSync } from 'node:fs';
import { openPipe } from '../../../system/processes/pipe.ts';
import { PipeReader } from '../../../system/processes/pipe-reader.ts';
import { type GroupProcess, type ProcessExit, spawnGroup } from '../../../system/processes/process-group.ts';
import { clampTimeout } from '../../../system/with-timeout.ts';
import type { CommandSandbox } from '../../permission.ts';
import { provideRipgrep } from '../search/provide-ripgrep.ts';
import type { Truncation } from '../truncate.ts';
import { CommandOutput } from './command-output.ts';
import type { LogFolder } from './output-log.ts';

// Interval of progress updates.
const UPDATE_MS = 100;

/** How shell commands run: folder, environment, shell, prefix and log limit. */
export interface ShellOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder in the PATH of `env` for programs that tau provides. */
  readonly programs?: string | undefined;
  /** Additional variables, computed when a command starts. */
  readonly dynamicEnv?: (() => Readonly<Record<string, string | undefined>>) | undefined;
  readonly shellPath?: string | undefined;
  /** A line prepended to every command. */
  readonly commandPrefix?: string | undefined;
  /** Timeouts of settings.json. */
  readonly timeouts?: CommandTimeouts | undefined;
  /** Tag of the processes; all remaining ones are killed together. */
  readonly family: string;
  /** Whether commands of the model run in a sandbox, which it may request to leave. */
  readonly isConfined?: boolean | undefined;
  /** Limit of the output log. */
  readonly logBytes?: number | undefined;
  /** The folder of the output log, requested when a log starts; by default the temporary folder. */
  readonly logFolder?: (() => LogFolder | undefined) | undefined;
}

export interface CommandTimeouts {
  readonly defaultTimeoutSeconds?: number;
  readonly maxTimeoutSeconds?: number;
}

/** The timeout of a command, and the setting that determined it. */
export interface CommandTimeout {
  /** 0: never. */
  readonly seconds: number;
  readonly setting?: keyof CommandTimeouts;
}

/** The timeout of a command for which this one was requested; 0 is none. The maximum also bounds a command without one. */
export function timeoutFor(requested: number, timeouts: CommandTimeouts = {}): CommandTimeout {
  const { defaultTimeoutSeconds = 0, maxTimeoutSeconds = 0 } = timeouts;
  const isDefault = requested <= 0 && defaultTimeoutSeconds > 0;
  const seconds = isDefault ? defaultTimeoutSeconds : Math.max(0, requested);
  const isBounded = maxTimeoutSeconds > 0 && (seconds === 0 || seconds > maxTimeoutSeconds);
  if (isBounded) return { seconds: maxTimeoutSeconds, setting: 'maxTimeoutSeconds' };
  return isDefault ? { seconds, setting: 'defaultTimeoutSeconds' } : { seconds };
}

/** Why a command that timed out was killed. */
export const timeoutText = ({ seconds, setting }: CommandTimeout): string =>
  `Command timed out after ${seconds} seconds${setting ? ` (bash.${setting} in settings.json)` : ''}`;

export interface ShellJob {
  readonly command: string;
  /** Kills the command after this time; 0 never does. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  readonly onStart?: () => void;
  /** Runs the command inside; absent: with the rights of the user. */
  readonly sandbox?: CommandSandbox | undefined;
  /** Called at most every `UPDATE_MS` when there is new output. */
  readonly onOutput: (output: CommandOutput) => void;
}

export interface ShellRun {
  readonly output: CommandOutput;
  /** The end of the output; if truncated, the output's log holds the whole. */
  readonly tail: Truncation;
  readonly exit: ProcessExit;
  readonly end: 'exited' | 'timed out' | 'aborted';
}

/** Runs a command until it exits, times out or is aborted. Its background processes may continue to print. */
export async function runShell(options: ShellOptions, job: ShellJob): Promise<ShellRun> {
  if (!statSync(options.cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`Working directory does not exist: ${options.cwd}\nCannot execute bash commands.`);
  }
  await provideRipgrep(options);
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
  const child = await startUnlessAborted(options, job, pipe.write).finally(() => closeSync(pipe.write));
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

async function startUnlessAborted(
  options: ShellOptions,
  { command, sandbox, signal }: ShellJob,
  output: number,
): Promise<GroupProcess | undefined> {
  const launch = {
    command: options.shellPath ?? defaultShell(),
    args: ['-c', [options.commandPrefix, command].filter(Boolean).join('\n')],
    cwd: options.cwd,
    env: { ...options.env, ...options.dynamicEnv?.() },
  };
  const confined = sandbox && !signal.aborted ? await sandbox.confine(launch) : launch;
  return signal.aborted ? undefined : spawnGroup({ ...confined, output, family: options.family });
}

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

/** Names the setting in the error if the user's shell cannot be started. */
function withSettingName(ending: Ending, { shellPath }: ShellOptions): Ending {
  const { error } = ending.exit;
  if (!error || shellPath === undefined) return ending;
  const explained = new Error(`The shell of settings.json (shellPath) cannot be started: ${error.message}`, {
    cause: error,
  });
  return { ...ending, exit: { ...ending.exit, error: explained } };
}

/** Shell used if the settings name none. */
export const defaultShell = () => (existsSync('/bin/bash') ? '/bin/bash' : 'sh');
