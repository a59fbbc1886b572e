import { closeSync, existsSync, statSync } from 'node:fs';
import { openPipe } from '../../system/pipe.ts';
import { PipeReader } from '../../system/pipe-reader.ts';
import { type Exit, type GroupProcess, spawnGroup } from '../../system/process-group.ts';
import { ToolError, type ToolInvocation, type ToolOutput, textOutput } from '../tool.ts';
import { CommandOutput } from './command-output.ts';
import type { OutputLog } from './output-log.ts';
import { sizeOf, type Truncation } from './truncate.ts';

/** How often a running command shows what it printed. */
const UPDATE_MS = 100;

/** A longer one would fire at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export interface ShellOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly shellPath?: string | undefined;
  /** A line put before every command. */
  readonly commandPrefix?: string | undefined;
  /** Whose processes these are: what is left of them ends together. */
  readonly family: string;
  /** How much of a long output is kept on disk. */
  readonly logBytes?: number | undefined;
}

/** Runs a command to its end, its timeout or the abort. What it leaves in the background may go on printing. */
export async function runCommand(options: ShellOptions, { args, signal, update }: ToolInvocation): Promise<ToolOutput> {
  if (!statSync(options.cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`Working directory does not exist: ${options.cwd}\nCannot execute bash commands.`);
  }
  const output = new CommandOutput(options);
  let nextUpdate: NodeJS.Timeout | undefined;
  const show = () => {
    clearTimeout(nextUpdate);
    nextUpdate = undefined;
    if (output.grew()) update(shown(output));
  };
  const pipe = await openPipe();
  const reader = new PipeReader(pipe.read, (bytes) => {
    output.add(bytes);
    nextUpdate ??= setTimeout(show, UPDATE_MS);
  });
  if (signal.aborted) {
    closeSync(pipe.write);
    throw new Error(ABORTED);
  }
  const child = spawnGroup({
    command: options.shellPath ?? defaultShell(),
    args: ['-c', [options.commandPrefix, String(args['command'])].filter(Boolean).join('\n')],
    cwd: options.cwd,
    env: options.env,
    output: pipe.write,
    family: options.family,
  });
  closeSync(pipe.write);
  update({ content: [], details: { truncation: null, fullOutputPath: null } });
  const problem = await ending(child, { seconds: Number(args['timeout'] ?? 0), signal });
  reader.drain();
  output.end();
  show();
  try {
    return finished(output, problem);
  } finally {
    reader.handOver(output.log);
  }
}

/** Waits until the command has ended, of itself or because it must; answers what went wrong. */
async function ending(child: GroupProcess, limits: { seconds: number; signal: AbortSignal }) {
  const { seconds, signal } = limits;
  let timedOut = false;
  const expired = () => {
    timedOut = true;
    void child.kill();
  };
  const stop = () => void child.kill();
  const timer = seconds > 0 ? setTimeout(expired, Math.min(seconds * 1000, LONGEST_TIMEOUT_MS)) : undefined;
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const exit = await child.exited;
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
  if (timedOut || signal.aborted) await child.kill();
  return trouble({ exit, seconds, timedOut, aborted: signal.aborted });
}

function trouble(end: { exit: Exit; seconds: number; timedOut: boolean; aborted: boolean }): string | undefined {
  if (end.aborted) return ABORTED;
  if (end.timedOut) return `Command timed out after ${end.seconds} seconds`;
  if (end.exit.error) return end.exit.error.message;
  if (end.exit.signal) return `Command was killed by ${end.exit.signal}`;
  return end.exit.code === 0 ? undefined : `Command exited with code ${end.exit.code}`;
}

function finished(output: CommandOutput, problem: string | undefined): ToolOutput {
  const tail = output.tail();
  const { log } = output;
  const text = [tail.content, log ? cutNotice(tail, log, output.lastLineBytes) : ''].filter(Boolean).join('\n\n');
  const details = log ? { truncation: tail, fullOutputPath: log.path ?? null } : undefined;
  if (problem)
    throw new ToolError({ ...textOutput([text, problem].filter(Boolean).join('\n\n')), details: details ?? {} });
  return { ...textOutput(text || '(no output)'), ...(details ? { details } : {}) };
}

function shown(output: CommandOutput): ToolOutput {
  const tail = output.tail();
  const details = { truncation: tail.truncated ? tail : null, fullOutputPath: output.log?.path ?? null };
  return { ...textOutput(tail.content), details };
}

function cutNotice(tail: Truncation, log: OutputLog, lastLineBytes: number): string {
  const first = tail.totalLines - tail.outputLines + 1;
  const limit = tail.truncatedBy === 'bytes' ? ` (${sizeOf(tail.maxBytes)} limit)` : '';
  const shown = tail.lastLinePartial
    ? `last ${sizeOf(tail.outputBytes)} of line ${tail.totalLines} (line is ${sizeOf(lastLineBytes)})`
    : `lines ${first}-${tail.totalLines} of ${tail.totalLines}${limit}`;
  return `[Showing ${shown}. ${whereabouts(log)}]`;
}

function whereabouts({ path, loss, cutAt }: OutputLog): string {
  if (path === undefined) return `The full output could not be kept: ${loss}`;
  return cutAt === undefined ? `Full output: ${path}` : `First ${sizeOf(cutAt)} of the output: ${path}`;
}

const ABORTED = 'Command aborted';

const defaultShell = () => (existsSync('/bin/bash') ? '/bin/bash' : 'sh');
