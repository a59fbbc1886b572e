import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { guardGroup, releaseGroup, startGuardian } from './guardian.ts';
import { openPipe } from './pipe.ts';
import { PipeReader } from './pipe-reader.ts';

/** A shell command that `captureOnce` runs once and whose output it caches. */
export interface CaptureOptions {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The command is killed with its whole group after this time. */
  readonly limitMs: number;
  /** Ends the wait of this caller; the last one to abort kills the command. */
  readonly signal?: AbortSignal | undefined;
}

const MAX_CAPTURED_BYTES = 64 * 1024;

// The oldest entry is dropped first.
const MAX_CACHED_CAPTURES = 100;

const cache = new Map<string, SharedRun>();

interface SharedRun {
  readonly text: Promise<string>;
  readonly stop: AbortController;
  waiters: number;
}

/**
 * Returns the trimmed stdout of a shell command; rejects when it fails, hangs or prints nothing.
 *
 * A second call with the same command, folder and environment gets the same text without another run, unless the run
 * failed. Background processes of the command stay alive: one may be the user's key agent.
 */
export function captureOnce(options: CaptureOptions): Promise<string> {
  const { command, cwd, env, signal } = options;
  const key = JSON.stringify([command, cwd, env]);
  const shared = cache.get(key) ?? startShared(key, options);
  shared.waiters++;
  const stopWaiting = () => {
    if (--shared.waiters === 0) shared.stop.abort();
  };
  if (signal?.aborted) stopWaiting();
  signal?.addEventListener('abort', stopWaiting, { once: true });
  return shared.text.finally(() => signal?.removeEventListener('abort', stopWaiting));
}

/** Returns the trimmed stdout of a shell command. Rejects as `captureOnce` does; nothing is cached. */
export function captureAnew(options: Omit<CaptureOptions, 'signal'>): Promise<string> {
  return captureOutput(options, new AbortController().signal);
}

function startShared(key: string, options: CaptureOptions): SharedRun {
  const [oldest = ''] = cache.keys();
  if (cache.size >= MAX_CACHED_CAPTURES) cache.delete(oldest);
  const stop = new AbortController();
  const shared = { text: captureOutput(options, stop.signal), stop, waiters: 0 };
  cache.set(key, shared);
  shared.text.catch(() => cache.delete(key));
  return shared;
}

async function captureOutput(options: Omit<CaptureOptions, 'signal'>, stop: AbortSignal): Promise<string> {
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
  const failure = await child.failure;
  reader.drain();
  reader.redirectTo(undefined);
  const text = Buffer.concat(pieces).toString().trim();
  const problem = failure ?? (bytes > MAX_CAPTURED_BYTES ? 'printed too much' : text === '' && 'printed nothing');
  if (problem) throw new Error(`The command \`${options.command}\` ${problem}`);
  return text;
}

interface RunningCommand {
  /** Settles with the reason of a failure, or undefined, when the command has exited or was killed. */
  readonly failure: Promise<string | undefined>;
  kill(why: string): void;
}

function startCommand({ command, cwd, env, limitMs }: CaptureOptions, output: number): RunningCommand {
  startGuardian();
  const child = spawn('/bin/sh', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', output, 'ignore'] });
  const { pid } = child;
  if (pid !== undefined) guardGroup(pid);
  let settle: (failure: string | undefined) => void = () => undefined;
  const ended = new Promise<string | undefined>((resolve) => {
    settle = resolve;
  });
  const kill = (why: string) => {
    // Until its leader is reaped, the group number cannot be reused.
    if (child.exitCode === null && child.signalCode === null) killGroup(pid);
    settle(why);
  };
  const timer = setTimeout(kill, limitMs, `took longer than ${limitMs / 1000} seconds`);
  child.once('error', (error: NodeJS.ErrnoException) => settle(`did not start (${error.code})`));
  child.once('exit', (code, signal) => settle(describeExit(code, signal)));
  const failure = ended.finally(() => {
    clearTimeout(timer);
    child.unref();
    if (pid !== undefined) releaseGroup(pid);
  });
  return { failure, kill };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The command changed its user: it cannot be killed, and no caller waits for it any more.
  }
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (signal) return `was killed by ${signal}`;
  return code === 0 ? undefined : `ended with code ${code}`;
}
