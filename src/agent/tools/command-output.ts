import { StringDecoder } from 'node:string_decoder';
import { OutputLog } from './output-log.ts';
import { keepTail, MAX_OUTPUT_BYTES, type Truncation } from './truncate.ts';

/** Room for the tail that is shown, whatever its lines' ends cut off. */
const WINDOW_BYTES = 2 * MAX_OUTPUT_BYTES;

/** Twice the window, so that it moves only once for all the bytes it holds. */
const BUFFER_BYTES = 2 * WINDOW_BYTES;

const LF = 10;

/** What a command has printed: the end of it here and, once that is not all there is to show, all of it in a log. */
export class CommandOutput {
  readonly #logBytes: number | undefined;
  #log: OutputLog | undefined;
  #buffer: Buffer | undefined;
  #bufferedBytes = 0;
  #totalBytes = 0;
  #lines = 0;
  #lineStart = 0;
  #previousLineStart = 0;
  #reportedBytes = 0;
  #takenBytes = 0;
  #decoder = new StringDecoder();
  #ended = false;

  constructor(options: { readonly logBytes?: number | undefined } = {}) {
    this.#logBytes = options.logBytes;
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
    this.#log?.append(bytes);
  }

  /** Nothing more will come: half a character at the end is no longer waited for. */
  end(): void {
    this.#ended = true;
  }

  /** Whether more was printed since the last time this was asked. */
  hasGrown(): boolean {
    const grown = this.#totalBytes > this.#reportedBytes;
    this.#reportedBytes = this.#totalBytes;
    return grown;
  }

  /** The last lines of the output. The log begins when they are not all for the first time. */
  tail(): Truncation {
    const window = this.#lastBytes(WINDOW_BYTES);
    // The line that the window cuts is dropped, unless it is all there is.
    const cut = this.#totalBytes <= WINDOW_BYTES ? 0 : window.indexOf(LF) + 1;
    const bytes = window.subarray(cut === window.length ? 0 : cut);
    // Half a character at the end is shown when the rest of it has come, and counts then.
    const size = this.#totalBytes - (this.#ended ? 0 : incompleteBytes(bytes));
    const text = bytes.toString('utf8', 0, bytes.length - (this.#totalBytes - size));
    const tail = keepTail(text, { lines: this.#lines + (size > this.#lineStart ? 1 : 0), bytes: size });
    if (tail.truncated) this.#startLog();
    return tail;
  }

  /**
   * What was printed since this was last asked.
   *
   * Of more than about 100 KB only the end is there, and `skipped` tells how many bytes are not.
   */
  takeNew(): { text: string; skipped: number } {
    const fresh = this.#totalBytes - this.#takenBytes;
    const bytes = this.#lastBytes(fresh);
    const skipped = fresh - bytes.length;
    this.#takenBytes = this.#totalBytes;
    if (skipped > 0) this.#decoder = new StringDecoder();
    const text = this.#decoder.write(bytes) + (this.#ended ? this.#decoder.end() : '');
    return { text: skipped > 0 ? text.replace(/^\uFFFD+/, '') : text, skipped };
  }

  /** How long the last line is. */
  get lastLineBytes(): number {
    return this.#hasOpenLine ? this.#totalBytes - this.#lineStart : this.#lineStart - this.#previousLineStart - 1;
  }

  /** All of the output, once it is more than `tail` shows. */
  get log(): OutputLog | undefined {
    return this.#log;
  }

  get #hasOpenLine(): boolean {
    return this.#totalBytes > this.#lineStart;
  }

  /** The last bytes, or as many of them as are still here. */
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

  /** Must happen before the window loses its first byte. */
  #startLog(): void {
    if (this.#log) return;
    this.#log = OutputLog.create(this.#logBytes);
    this.#log.append(this.#lastBytes(this.#totalBytes));
  }

  /** Byte by byte: a search for each break costs six times as much when the lines are short. */
  #countLines(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] !== LF) continue;
      this.#lines++;
      this.#previousLineStart = this.#lineStart;
      this.#lineStart = this.#totalBytes + at + 1;
    }
  }
}

/** How many bytes at the end begin a character without ending it. */
function incompleteBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80 || byte > 0xf4) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}
