import { existsSync, statSync } from 'node:fs';
import { type Exit, spawnGroup } from '../../system/process-group.ts';
import { ToolError, type ToolInvocation, type ToolOutput, textOutput } from '../tool.ts';
import { OutputLog } from './output-log.ts';
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
}

/** Runs a command to its end, its timeout or the abort. */
export async function runCommand(options: ShellOptions, { args, signal, update }: ToolInvocation): Promise<ToolOutput> {
  if (!statSync(options.cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`Working directory does not exist: ${options.cwd}\nCannot execute bash commands.`);
  }
  using log = OutputLog.create();
  const child = spawnGroup({
    command: options.shellPath ?? defaultShell(),
    args: ['-c', [options.commandPrefix, String(args['command'])].filter(Boolean).join('\n')],
    cwd: options.cwd,
    env: options.env,
    output: log.fd,
  });
  update({ content: [], details: { truncation: null, fullOutputPath: null } });
  const seconds = Number(args['timeout'] ?? 0);
  let timedOut = false;
  const expired = () => {
    timedOut = true;
    void child.kill();
  };
  const stop = () => void child.kill();
  const timer = seconds > 0 ? setTimeout(expired, Math.min(seconds * 1000, LONGEST_TIMEOUT_MS)) : undefined;
  const ticker = setInterval(() => {
    if (log.grew()) update(shown(log));
  }, UPDATE_MS);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const exit = await child.exited;
  clearTimeout(timer);
  clearInterval(ticker);
  signal.removeEventListener('abort', stop);
  if (timedOut || signal.aborted) await child.kill();
  await log.countAll(signal);
  if (log.grew()) update(shown(log));
  return finished(log, trouble({ exit, seconds, timedOut, aborted: signal.aborted }));
}

function trouble(end: { exit: Exit; seconds: number; timedOut: boolean; aborted: boolean }): string | undefined {
  if (end.aborted) return 'Command aborted';
  if (end.timedOut) return `Command timed out after ${end.seconds} seconds`;
  if (end.exit.error) return end.exit.error.message;
  if (end.exit.signal) return `Command was killed by ${end.exit.signal}`;
  return end.exit.code === 0 ? undefined : `Command exited with code ${end.exit.code}`;
}

function finished(log: OutputLog, problem: string | undefined): ToolOutput {
  const tail = log.tail();
  if (tail.truncated) log.keep();
  const text = [tail.content, tail.truncated ? cutNotice(tail, log) : ''].filter(Boolean).join('\n\n');
  const details = tail.truncated ? { truncation: tail, fullOutputPath: log.path } : undefined;
  if (problem)
    throw new ToolError({ ...textOutput([text, problem].filter(Boolean).join('\n\n')), details: details ?? {} });
  return { ...textOutput(text || '(no output)'), ...(details ? { details } : {}) };
}

function shown(log: OutputLog): ToolOutput {
  const tail = log.tail();
  const details = tail.truncated
    ? { truncation: tail, fullOutputPath: log.path }
    : { truncation: null, fullOutputPath: null };
  return { ...textOutput(tail.content), details };
}

function cutNotice(tail: Truncation, { path, lastLineBytes }: OutputLog): string {
  const first = tail.totalLines - tail.outputLines + 1;
  const limit = tail.truncatedBy === 'bytes' ? ` (${sizeOf(tail.maxBytes)} limit)` : '';
  const shown = tail.lastLinePartial
    ? `last ${sizeOf(tail.outputBytes)} of line ${tail.totalLines} (line is ${sizeOf(lastLineBytes)})`
    : `lines ${first}-${tail.totalLines} of ${tail.totalLines}${limit}`;
  return `[Showing ${shown}. Full output: ${path}]`;
}

const defaultShell = () => (existsSync('/bin/bash') ? '/bin/bash' : 'sh');
