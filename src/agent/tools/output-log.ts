import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepTail, MAX_BYTES, type Truncation } from './truncate.ts';

/** Room for the tail that is shown, whatever its lines' ends cut off. */
const WINDOW_BYTES = 2 * MAX_BYTES;

/** Bytes whose lines are counted in one go. */
const COUNTED_AT_ONCE = 8 * 1024 * 1024;

const LF = 10;

/**
 * Where a command prints to. The command writes the file itself, so that output costs this process nothing but a look
 * at its end, and a process left in the background holds no pipe of ours.
 */
export class OutputLog implements Disposable {
  readonly path: string;
  readonly fd: number;
  #seen = 0;
  #counted = 0;
  #lines = 0;
  #lineStart = 0;
  #lineBefore = 0;
  #kept = false;

  private constructor(path: string, fd: number) {
    this.path = path;
    this.fd = fd;
  }

  static create(): OutputLog {
    const path = join(tmpdir(), `pi-bash-${randomBytes(8).toString('hex')}.log`);
    // Appending, since stdout and stderr share one descriptor with whatever else the command starts.
    return new OutputLog(path, openSync(path, 'ax+', 0o600));
  }

  /** Whether more was printed since the last time this was asked. */
  grew(): boolean {
    const { size } = fstatSync(this.fd);
    const grown = size > this.#seen;
    this.#seen = size;
    return grown;
  }

  /** The last lines of the output. */
  tail(): Truncation {
    const { size } = fstatSync(this.fd);
    const window = this.#read(Math.max(0, size - WINDOW_BYTES), size);
    // The line that the window cuts is dropped, unless it is all there is.
    const cut = size <= WINDOW_BYTES ? 0 : window.indexOf(LF) + 1;
    const text = window.subarray(cut === window.length ? 0 : cut).toString();
    return keepTail(text, { lines: this.#countLines(size), bytes: size });
  }

  /** How long the last line was when `tail` was last asked for. */
  get lastLineBytes(): number {
    return this.#endsOpen ? this.#counted - this.#lineStart : this.#lineStart - this.#lineBefore - 1;
  }

  /** Leaves the file behind for whoever wants the whole of it. */
  keep(): void {
    this.#kept = true;
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
    if (!this.#kept) rmSync(this.path, { force: true });
  }

  get #endsOpen(): boolean {
    return this.#counted > this.#lineStart;
  }

  /** Counts what is left to count, leaving room for others to work; gives up when the signal aborts. */
  async countAll(signal: AbortSignal): Promise<void> {
    const { size } = fstatSync(this.fd);
    while (this.#counted < size && !signal.aborted) {
      this.#countLines(size);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Counts some of what is new since the last count: a command may print faster than lines can be counted. */
  #countLines(size: number): number {
    const block = Buffer.alloc(Math.min(1024 * 1024, Math.max(1, size - this.#counted)));
    const end = Math.min(size, this.#counted + COUNTED_AT_ONCE);
    while (this.#counted < end) {
      const length = readSync(this.fd, block, 0, Math.min(block.length, end - this.#counted), this.#counted);
      if (length === 0) break;
      for (let at = block.indexOf(LF); at !== -1 && at < length; at = block.indexOf(LF, at + 1)) {
        this.#lines++;
        this.#lineBefore = this.#lineStart;
        this.#lineStart = this.#counted + at + 1;
      }
      this.#counted += length;
    }
    return this.#lines + (this.#endsOpen ? 1 : 0);
  }

  #read(from: number, to: number): Buffer {
    const buffer = Buffer.alloc(to - from);
    const length = readSync(this.fd, buffer, 0, buffer.length, from);
    return buffer.subarray(0, length);
  }
}
