import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { guardGroup, releaseGroup, startGuardian } from './guardian.ts';
import { openPipe } from './pipe.ts';
import { PipeReader } from './pipe-reader.ts';

/** A shell command that is run for what it prints. */
export interface CaptureOptions {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** After which it is killed with everything in its group. */
  readonly limitMs: number;
  /** Tells that this asker no longer waits; with the last of them the command is killed. */
  readonly signal?: AbortSignal | undefined;
}

/** More than that is no answer. */
const MAX_CAPTURED_BYTES = 64 * 1024;

/** How many commands are remembered; the one that was asked for first is forgotten first. */
const MAX_CACHED_CAPTURES = 100;

const cache = new Map<string, SharedRun>();

/** A run that several may wait for. */
interface SharedRun {
  readonly text: Promise<string>;
  readonly stop: AbortController;
  askers: number;
}

/**
 * What a command prints to stdout, without the white space around it; rejects when it fails, hangs or prints nothing.
 *
 * Who asks for the same command in the same place again gets the same answer, without another run, unless it failed.
 * What the command leaves in the background lives on: it may be the keeper of the user's keys.
 */
export function captureOnce(options: CaptureOptions): Promise<string> {
  const { command, cwd, env, signal } = options;
  const key = JSON.stringify([command, cwd, env]);
  const shared = cache.get(key) ?? startShared(key, options);
  shared.askers++;
  const stopWaiting = () => {
    if (--shared.askers === 0) shared.stop.abort();
  };
  if (signal?.aborted) stopWaiting();
  signal?.addEventListener('abort', stopWaiting, { once: true });
  return shared.text.finally(() => signal?.removeEventListener('abort', stopWaiting));
}

function startShared(key: string, options: CaptureOptions): SharedRun {
  const [oldest = ''] = cache.keys();
  if (cache.size >= MAX_CACHED_CAPTURES) cache.delete(oldest);
  const stop = new AbortController();
  const shared = { text: captureOutput(options, stop.signal), stop, askers: 0 };
  cache.set(key, shared);
  shared.text.catch(() => cache.delete(key));
  return shared;
}

async function captureOutput(options: CaptureOptions, stop: AbortSignal): Promise<string> {
  const pipe = await openPipe();
  const pieces: Buffer[] = [];
  let bytes = 0;
  let child: RunningCommand | undefined;
  const reader = new PipeReader(pipe.read, (piece) => {
    bytes += piece.length;
    if (bytes > MAX_CAPTURED_BYTES) child?.kill('printed too much');
    else pieces.push(Buffer.from(piece));
  });
  try {
    child = startCommand(options, pipe.write);
  } finally {
    closeSync(pipe.write);
  }
  const cancel = () => child?.kill('was no longer wanted');
  if (stop.aborted) cancel();
  stop.addEventListener('abort', cancel, { once: true });
  const trouble = await child.trouble;
  reader.drain();
  reader.redirectTo(undefined);
  const text = Buffer.concat(pieces).toString().trim();
  const problem = trouble ?? (bytes > MAX_CAPTURED_BYTES ? 'printed too much' : text === '' && 'printed nothing');
  if (problem) throw new Error(`The command \`${options.command}\` ${problem}`);
  return text;
}

interface RunningCommand {
  /** What went wrong, once the command has ended or had to. */
  readonly trouble: Promise<string | undefined>;
  kill(why: string): void;
}

function startCommand({ command, cwd, env, limitMs }: CaptureOptions, output: number): RunningCommand {
  startGuardian();
  const child = spawn('/bin/sh', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', output, 'ignore'] });
  const { pid } = child;
  if (pid !== undefined) guardGroup(pid);
  let settle: (trouble: string | undefined) => void = () => undefined;
  const ended = new Promise<string | undefined>((resolve) => {
    settle = resolve;
  });
  const kill = (why: string) => {
    // Until its leader is reaped the number of the group is ours.
    if (child.exitCode === null && child.signalCode === null) killGroup(pid);
    settle(why);
  };
  const timer = setTimeout(kill, limitMs, `took longer than ${limitMs / 1000} seconds`);
  child.once('error', (error: NodeJS.ErrnoException) => settle(`did not start (${error.code})`));
  child.once('exit', (code, signal) => settle(describeExit(code, signal)));
  const trouble = ended.finally(() => {
    clearTimeout(timer);
    child.unref();
    if (pid !== undefined) releaseGroup(pid);
  });
  return { trouble, kill };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It runs as somebody else by now: nobody waits for it, and that is all that can be done.
  }
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (signal) return `was killed by ${signal}`;
  return code === 0 ? undefined : `ended with code ${code}`;
}
