import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { guardGroup, releaseGroup, startGuardian } from './guardian.ts';
import { openPipe } from './pipe.ts';
import { PipeReader } from './pipe-reader.ts';

/** A shell command that is run for what it prints. */
export interface Capture {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** After which it is killed with everything in its group. */
  readonly limitMs: number;
  /** Tells that this asker no longer waits; with the last of them the command is killed. */
  readonly signal?: AbortSignal | undefined;
}

/** More than that is no answer. */
const MAX_BYTES = 64 * 1024;

/** How many commands are remembered; the one that was asked for first is forgotten first. */
const MAX_REMEMBERED = 100;

const remembered = new Map<string, Shared>();

/** A run that several may wait for. */
interface Shared {
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
export function captureOnce(capture: Capture): Promise<string> {
  const { command, cwd, env, signal } = capture;
  const key = JSON.stringify([command, cwd, env]);
  const shared = remembered.get(key) ?? begun(key, capture);
  shared.askers++;
  const leave = () => {
    if (--shared.askers === 0) shared.stop.abort();
  };
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave, { once: true });
  return shared.text.finally(() => signal?.removeEventListener('abort', leave));
}

function begun(key: string, capture: Capture): Shared {
  const [oldest = ''] = remembered.keys();
  if (remembered.size >= MAX_REMEMBERED) remembered.delete(oldest);
  const stop = new AbortController();
  const shared = { text: printed(capture, stop.signal), stop, askers: 0 };
  remembered.set(key, shared);
  shared.text.catch(() => remembered.delete(key));
  return shared;
}

async function printed(capture: Capture, stop: AbortSignal): Promise<string> {
  const pipe = await openPipe();
  const pieces: Buffer[] = [];
  let bytes = 0;
  let child: Running | undefined;
  const reader = new PipeReader(pipe.read, (piece) => {
    bytes += piece.length;
    if (bytes > MAX_BYTES) child?.kill('printed too much');
    else pieces.push(Buffer.from(piece));
  });
  try {
    child = start(capture, pipe.write);
  } finally {
    closeSync(pipe.write);
  }
  const unwanted = () => child?.kill('was no longer wanted');
  if (stop.aborted) unwanted();
  stop.addEventListener('abort', unwanted, { once: true });
  const trouble = await child.trouble;
  reader.drain();
  reader.handOver(undefined);
  const text = Buffer.concat(pieces).toString().trim();
  const problem = trouble ?? (bytes > MAX_BYTES ? 'printed too much' : text === '' && 'printed nothing');
  if (problem) throw new Error(`The command \`${capture.command}\` ${problem}`);
  return text;
}

interface Running {
  /** What went wrong, once the command has ended or had to. */
  readonly trouble: Promise<string | undefined>;
  kill(why: string): void;
}

function start({ command, cwd, env, limitMs }: Capture, output: number): Running {
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
  child.once('exit', (code, signal) => settle(endingOf(code, signal)));
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

function endingOf(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (signal) return `was killed by ${signal}`;
  return code === 0 ? undefined : `ended with code ${code}`;
}
