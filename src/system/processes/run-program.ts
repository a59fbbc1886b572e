import type { Readable } from 'node:stream';
import { clampTimeout } from '../with-timeout.ts';
import { type ProgramOptions, spawnPiped } from './process-group.ts';

/** A program to run to its end, with a timeout. */
export interface RunProgramOptions extends ProgramOptions {
  /** The program is killed with its descendants after this many milliseconds. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ProgramResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
  readonly killed: boolean;
  readonly truncated: boolean;
}

const MAX_PROGRAM_OUTPUT = 10 * 1024 * 1024;

// Remaining descendants may hold the outputs open after the program has exited.
const OUTPUT_LINGER_MS = 200;

/** Runs a program to its end; never rejects. A program that does not start has code 127, as in a shell. */
export async function runProgram({ timeout, signal, ...program }: RunProgramOptions): Promise<ProgramResult> {
  const { pipes, exited, kill } = spawnPiped(program);
  pipes?.stdin.on('error', () => {}).end();
  const outputs = [pipes?.stdout, pipes?.stderr].map((stream) => new OutputBuffer(stream));
  let killed = false;
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

class OutputBuffer {
  readonly #pieces: Buffer[] = [];
  readonly #stream: Readable | undefined;
  readonly end: Promise<void>;
  #bytes = 0;

  constructor(stream: Readable | undefined) {
    this.#stream = stream;
    this.end = new Promise((resolve) => {
      if (!stream) resolve();
      stream?.on('data', (piece: Buffer) => this.#add(piece));
      stream?.once('close', resolve).once('error', () => resolve());
    });
  }

  get isTruncated(): boolean {
    return this.#bytes > MAX_PROGRAM_OUTPUT;
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString();
  }

  close(): void {
    this.#stream?.destroy();
  }

  #add(piece: Buffer): void {
    if (this.#bytes < MAX_PROGRAM_OUTPUT) this.#pieces.push(piece.subarray(0, MAX_PROGRAM_OUTPUT - this.#bytes));
    this.#bytes += piece.length;
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
