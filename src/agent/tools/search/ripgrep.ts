import { closeSync } from 'node:fs';
import { openPipe } from '../../../system/processes/pipe.ts';
import { PipeReader } from '../../../system/processes/pipe-reader.ts';
import { type ProcessExit, spawnGroup } from '../../../system/processes/process-group.ts';
import type { SandboxLaunch } from '../../../system/sandbox/sandbox.ts';
import type { CommandSandbox } from '../../permission.ts';
import { throwIfAborted } from '../../unless-aborted.ts';
import { shortenLine } from './grep-matches.ts';

// Tag of the processes; each ends with its own call.
const FAMILY = 'grep';

// A message is longer only if it repeats the pattern.
const MAX_MESSAGE_LINES = 10;

interface RipgrepRun {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly signal: AbortSignal;
  // Runs ripgrep inside; absent: with the rights of the user.
  readonly sandbox?: CommandSandbox | undefined;
  // Returns whether the search should continue.
  readonly onLine: (line: FoundLine) => boolean;
}

/**
 * Runs ripgrep until it ends or `onLine` returns false; returns its last message. Throws on abort, if it was killed, or
 * if it failed before the first match; the process has ended by then.
 */
export async function runRipgrep({ args, cwd, signal, sandbox, onLine }: RipgrepRun): Promise<string> {
  const command = await ripgrepPath();
  const pipe = await openPipe();
  const enough = new AbortController();
  let found = 0;
  const output = new RipgrepOutput((line) => {
    found++;
    if (!enough.signal.aborted && !onLine(line)) enough.abort();
  });
  const reader = new PipeReader(pipe.read, (bytes) => output.add(bytes));
  let exit: ProcessExit;
  try {
    throwIfAborted(signal);
    // Warnings about unreadable files are off: the output holds only messages and found lines.
    const own = ['--no-config', '--no-messages', '--no-ignore-messages'];
    const launch = { command, args: [...own, ...args], cwd, env: {} };
    const confined = sandbox ? await confineUnlessAborted(launch, sandbox, signal) : launch;
    const child = spawnGroup({ ...confined, output: pipe.write, family: FAMILY });
    const stop = AbortSignal.any([signal, enough.signal]);
    const kill = () => void child.kill();
    stop.addEventListener('abort', kill, { once: true });
    exit = await child.exited;
    stop.removeEventListener('abort', kill);
  } finally {
    closeSync(pipe.write);
  }
  reader.drain();
  throwIfAborted(signal);
  const message = shortenMessage(output.message);
  const problem = enough.signal.aborted
    ? undefined
    : failureText(exit, { message: found > 0 ? '' : message, isConfined: sandbox !== undefined });
  if (problem) throw new Error(problem);
  return message;
}

async function confineUnlessAborted(launch: SandboxLaunch, sandbox: CommandSandbox, signal: AbortSignal) {
  const confined = await sandbox.confine(launch);
  throwIfAborted(signal);
  return confined;
}

/** The path of the ripgrep that was installed with tau; throws how to install it. */
export async function ripgrepPath(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch (error) {
    const name = `@vscode/ripgrep-${process.platform}-${process.arch}`;
    throw new Error(`grep needs ripgrep, which is not installed. Run: npm install ${name}`, { cause: error });
  }
}

interface FailedSearch {
  readonly message: string;
  readonly isConfined: boolean;
}

function failureText({ code, signal, error }: ProcessExit, { message, isConfined }: FailedSearch): string | undefined {
  if (error) return `ripgrep cannot be run: ${error.message}`;
  if (signal) return `ripgrep was killed by ${signal}`;
  // Where the sandbox does not start ripgrep, the code may be another one.
  return code === 2 || (isConfined && code !== 0) ? message : undefined;
}

const shortenMessage = (message: string) =>
  message.trim().replace(/^rg: /, '').split('\n').slice(-MAX_MESSAGE_LINES).map(shortenLine).join('\n');

const NUL = 0;
const LF = 10;

// More than the longest path and number, and than the longest shown part of a line.
const MAX_FIELD_BYTES = 16 * 1024;

/** A line found by ripgrep: a match or its context. */
export interface FoundLine {
  readonly path: string;
  readonly number: number;
  readonly isMatch: boolean;
  /** Only the beginning, if the line is very long. */
  readonly text: string;
}

/**
 * Parses ripgrep output of the form `path NUL number : text LF`, with `-` for `:` in context lines. No other format
 * bounds the memory for very long lines, neither in ripgrep nor here.
 */
export class RipgrepOutput {
  readonly #onLine: (line: FoundLine) => void;
  #path: string | undefined;
  #field = Buffer.alloc(0);

  constructor(onLine: (line: FoundLine) => void) {
    this.#onLine = onLine;
  }

  /** Parses the next bytes; the buffer may be reused afterwards. */
  add(bytes: Buffer): void {
    for (let rest = bytes; rest.length > 0; ) {
      const end = rest.indexOf(this.#path === undefined ? NUL : LF);
      this.#append(end < 0 ? rest : rest.subarray(0, end));
      if (end < 0) return;
      this.#finishField();
      rest = rest.subarray(end + 1);
    }
  }

  /** The last output that is no found line: an error, or a notice about a binary file. */
  get message(): string {
    return this.#path === undefined ? this.#field.toString() : '';
  }

  #append(bytes: Buffer): void {
    const room = MAX_FIELD_BYTES - this.#field.length;
    this.#field = Buffer.concat([this.#field, bytes.subarray(0, room)]);
  }

  #finishField(): void {
    const field = this.#field.toString();
    this.#field = Buffer.alloc(0);
    if (this.#path === undefined) {
      this.#path = field.replace(BINARY_WARNING, '');
      return;
    }
    const [start, number, sign] = /^(\d+)([:-])/.exec(field) ?? ['', '0', ':'];
    this.#onLine({ path: this.#path, number: Number(number), isMatch: sign === ':', text: field.slice(start.length) });
    this.#path = undefined;
  }
}

// ripgrep prints this about the previous file, before the next path, if a match came before its first NUL.
const BINARY_WARNING = /^.*: WARNING: stopped searching binary file after match \(found .* byte around offset \d+\)\n/s;
