import { formatBytes, keepTail, MAX_OUTPUT_BYTES, type Truncation } from '../truncate.ts';
import { incompleteBytes } from './incomplete-character.ts';
import { NewOutput, type NewText } from './new-output.ts';
import { type LogFolder, OutputLog } from './output-log.ts';

// Room for the shown tail plus the line that the window cuts.
const WINDOW_BYTES = 2 * MAX_OUTPUT_BYTES;

// Twice the window: the buffer moves only once per window of bytes.
const BUFFER_BYTES = 2 * WINDOW_BYTES;

const LF = 10;

interface OutputOptions {
  readonly logBytes?: number | undefined;
  readonly logFolder?: (() => LogFolder | undefined) | undefined;
}

/** Output of a command: its tail in memory and, once truncated, the whole output in a log. */
export class CommandOutput {
  readonly #options: OutputOptions;
  #log: OutputLog | undefined;
  #buffer: Buffer | undefined;
  #bufferedBytes = 0;
  #totalBytes = 0;
  #lines = 0;
  #lineStart = 0;
  #previousLineStart = 0;
  #reportedBytes = 0;
  readonly #new = new NewOutput();
  #ended = false;

  constructor(options: OutputOptions = {}) {
    this.#options = options;
  }

  add(bytes: Buffer): void {
    this.#countLines(bytes);
    this.#buffer ??= Buffer.allocUnsafe(BUFFER_BYTES);
    const fits = this.#bufferedBytes + bytes.length <= BUFFER_BYTES;
    if (!fits) this.#moveWindow(this.#buffer);
    const kept = fits ? bytes : bytes.subarray(-WINDOW_BYTES);
    this.#buffer.set(kept, this.#bufferedBytes);
    this.#bufferedBytes += kept.length;
    this.#totalBytes += bytes.length;
    this.#new.add(bytes);
    this.#log?.append(bytes);
  }

  /** Ends the output: an incomplete character is no longer held back. */
  end(): void {
    this.#ended = true;
  }

  /** Whether more can be shown since the last call. */
  hasGrown(): boolean {
    const shown = this.#totalBytes - (this.#ended ? 0 : incompleteBytes(this.#lastBytes(3)));
    const grown = shown > this.#reportedBytes;
    this.#reportedBytes = shown;
    return grown;
  }

  /**
   * The last whole lines of the output, at most `MAX_OUTPUT_LINES` and `MAX_OUTPUT_BYTES`, or the end of a longer last
   * line. The log of the whole output starts when they are truncated for the first time.
   */
  tail(): Truncation {
    const window = this.#lastBytes(WINDOW_BYTES);
    // Drops the line that the window cuts, unless it is the only one.
    const cut = this.#totalBytes <= WINDOW_BYTES ? 0 : window.indexOf(LF) + 1;
    const bytes = window.subarray(cut === window.length ? 0 : cut);
    // An incomplete character is shown and counted when its last byte arrives.
    const size = this.#totalBytes - (this.#ended ? 0 : incompleteBytes(bytes));
    const text = bytes.toString('utf8', 0, bytes.length - (this.#totalBytes - size));
    const tail = keepTail(text, { lines: this.#lines + (size > this.#lineStart ? 1 : 0), bytes: size });
    if (tail.truncated) this.#startLog();
    return tail;
  }

  /** Output since the last call; of a large burst only the end. */
  takeNew(): NewText {
    return this.#new.take({ isLast: this.#ended });
  }

  get lastLineBytes(): number {
    return this.#hasOpenLine ? this.#totalBytes - this.#lineStart : this.#lineStart - this.#previousLineStart - 1;
  }

  /** The whole output; defined once `tail` is truncated. */
  get log(): OutputLog | undefined {
    return this.#log;
  }

  get #hasOpenLine(): boolean {
    return this.#totalBytes > this.#lineStart;
  }

  /** The last bytes, as far as they are still buffered. */
  #lastBytes(length: number): Buffer {
    const from = Math.max(0, this.#bufferedBytes - length);
    return this.#buffer?.subarray(from, this.#bufferedBytes) ?? Buffer.alloc(0);
  }

  #moveWindow(buffer: Buffer): void {
    this.#startLog();
    const from = Math.max(0, this.#bufferedBytes - WINDOW_BYTES);
    buffer.copyWithin(0, from, this.#bufferedBytes);
    this.#bufferedBytes -= from;
  }

  /** Must run before the window drops its first byte. */
  #startLog(): void {
    if (this.#log) return;
    const { logBytes, logFolder } = this.#options;
    this.#log = OutputLog.create({ limit: logBytes, folder: logFolder?.() });
    this.#log.append(this.#lastBytes(this.#totalBytes));
  }

  /** Scans byte by byte: searching for each break takes six times as long if lines are short. */
  #countLines(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] !== LF) continue;
      this.#lines++;
      this.#previousLineStart = this.#lineStart;
      this.#lineStart = this.#totalBytes + at + 1;
    }
  }
}

/** The line after a truncated tail: the range that the model sees, and the path of the whole output. */
export function truncationNotice({ log, lastLineBytes }: CommandOutput, tail: Truncation): string {
  if (!log) return '';
  const first = tail.totalLines - tail.outputLines + 1;
  const limit = tail.truncatedBy === 'bytes' ? ` (${formatBytes(tail.maxBytes)} limit)` : '';
  const range = tail.lastLinePartial
    ? `last ${formatBytes(tail.outputBytes)} of line ${tail.totalLines} (line is ${formatBytes(lastLineBytes)})`
    : `lines ${first}-${tail.totalLines} of ${tail.totalLines}${limit}`;
  return `[Showing ${range}. ${logLocation(log)}]`;
}

function logLocation({ shownPath: path, writeError, truncatedAt }: OutputLog): string {
  if (path === undefined) return `The full output could not be kept: ${writeError}`;
  return truncatedAt === undefined
    ? `Full output: ${path}`
    : `First ${formatBytes(truncatedAt)} of the output: ${path}`;
}
