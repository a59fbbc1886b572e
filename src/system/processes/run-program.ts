import type { Readable } from 'node:stream';
import { clampTimeout } from '../with-timeout.ts';
import { type ProgramOptions, spawnPiped } from './process-group.ts';

/** A program to run to its end, with a timeout. */
export interface RunProgramOptions extends ProgramOptions {
  /** The program is killed with its descendants after this many milliseconds. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The program is killed when its outputs together exceed this many bytes. Without it, the rest is dropped. */
  readonly maxBuffer?: number | undefined;
}

export interface ProgramResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
  readonly killed: boolean;
  readonly truncated: boolean;
}

const MAX_PROGRAM_OUTPUT = 10 * 1024 * 1024;

const LARGEST_MAX_BUFFER = 256 * 1024 * 1024;

// Remaining descendants may hold the outputs open after the program has exited.
const OUTPUT_LINGER_MS = 200;

/** Runs a program to its end; rejects only for a bad `maxBuffer`. A program that does not start has code 127, as in a shell. */
export async function runProgram(options: RunProgramOptions): Promise<ProgramResult> {
  const { timeout, signal, maxBuffer, ...program } = options;
  checkMaxBuffer(maxBuffer);
  const { pipes, exited, kill } = spawnPiped(program);
  pipes?.stdin.on('error', () => {}).end();
  let killed = false;
  let room = maxBuffer ?? Infinity;
  const reserve = (bytes: number) => {
    const granted = Math.min(bytes, room);
    room -= granted;
    if (granted < bytes) stop();
    return granted;
  };
  const limit = maxBuffer === undefined ? MAX_PROGRAM_OUTPUT : Infinity;
  const outputs = [pipes?.stdout, pipes?.stderr].map((stream) => new OutputBuffer(stream, limit, reserve));
  const stop = () => {
    killed = true;
    void kill();
  };
  const timer = timeout ? setTimeout(stop, clampTimeout(timeout)) : undefined;
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  const { code, error } = await exited;
  clearTimeout(timer);
  signal?.removeEventListener('abort', stop);
  await closeOutputs(outputs);
  const [stdout, stderr] = outputs.map((output) => output.text);
  return {
    stdout: stdout ?? '',
    stderr: error ? error.message : (stderr ?? ''),
    code: error ? 127 : (code ?? 1),
    killed,
    truncated: outputs.some(({ isTruncated }) => isTruncated),
  };
}

function checkMaxBuffer(maxBuffer: number | undefined): void {
  if (maxBuffer === undefined || (Number.isInteger(maxBuffer) && maxBuffer >= 0 && maxBuffer <= LARGEST_MAX_BUFFER))
    return;
  throw new RangeError(`maxBuffer must be an integer from 0 to ${LARGEST_MAX_BUFFER} bytes`);
}

class OutputBuffer {
  readonly #pieces: Buffer[] = [];
  readonly #stream: Readable | undefined;
  readonly end: Promise<void>;
  readonly #limit: number;
  readonly #reserve: (bytes: number) => number;
  #bytes = 0;
  #kept = 0;

  /** `reserve` returns how many of these bytes all outputs together may still keep. */
  constructor(stream: Readable | undefined, limit: number, reserve: (bytes: number) => number) {
    this.#stream = stream;
    this.#limit = limit;
    this.#reserve = reserve;
    this.end = new Promise((resolve) => {
      if (!stream) resolve();
      stream?.on('data', (piece: Buffer) => this.#add(piece));
      stream?.once('close', resolve).once('error', () => resolve());
    });
  }

  get isTruncated(): boolean {
    return this.#bytes > this.#kept;
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString();
  }

  close(): void {
    this.#stream?.destroy();
  }

  #add(piece: Buffer): void {
    this.#bytes += piece.length;
    const kept = piece.subarray(0, this.#reserve(Math.min(piece.length, this.#limit - this.#kept)));
    this.#kept += kept.length;
    if (kept.length > 0) this.#pieces.push(kept);
  }
}

async function closeOutputs(outputs: readonly OutputBuffer[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, OUTPUT_LINGER_MS);
  });
  await Promise.race([Promise.all(outputs.map(({ end }) => end)), timeout]);
  clearTimeout(timer);
  for (const output of outputs) output.close();
}
