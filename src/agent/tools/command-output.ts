import { StringDecoder } from 'node:string_decoder';
import { OutputLog } from './output-log.ts';
import { keepTail, MAX_BYTES, type Truncation } from './truncate.ts';

/** Room for the tail that is shown, whatever its lines' ends cut off. */
const WINDOW_BYTES = 2 * MAX_BYTES;

/** Twice the window, so that it moves only once for all the bytes it holds. */
const ROOM_BYTES = 2 * WINDOW_BYTES;

const LF = 10;

/** What a command has printed: the end of it here and, once that is not all there is to show, all of it in a log. */
export class CommandOutput {
  readonly #logBytes: number | undefined;
  #log: OutputLog | undefined;
  #held: Buffer | undefined;
  #heldBytes = 0;
  #size = 0;
  #lines = 0;
  #lineStart = 0;
  #lineBefore = 0;
  #seen = 0;
  #taken = 0;
  #decoder = new StringDecoder();
  #ended = false;

  constructor(options: { readonly logBytes?: number | undefined } = {}) {
    this.#logBytes = options.logBytes;
  }

  add(bytes: Buffer): void {
    this.#countLines(bytes);
    this.#held ??= Buffer.allocUnsafe(ROOM_BYTES);
    const fits = this.#heldBytes + bytes.length <= ROOM_BYTES;
    if (!fits) this.#moveWindow(this.#held);
    const kept = fits ? bytes : bytes.subarray(-WINDOW_BYTES);
    this.#held.set(kept, this.#heldBytes);
    this.#heldBytes += kept.length;
    this.#size += bytes.length;
    this.#log?.append(bytes);
  }

  /** Nothing more will come: half a character at the end is no longer waited for. */
  end(): void {
    this.#ended = true;
  }

  /** Whether more was printed since the last time this was asked. */
  grew(): boolean {
    const grown = this.#size > this.#seen;
    this.#seen = this.#size;
    return grown;
  }

  /** The last lines of the output. The log begins when they are not all for the first time. */
  tail(): Truncation {
    const window = this.#end(WINDOW_BYTES);
    // The line that the window cuts is dropped, unless it is all there is.
    const cut = this.#size <= WINDOW_BYTES ? 0 : window.indexOf(LF) + 1;
    const bytes = window.subarray(cut === window.length ? 0 : cut);
    // Half a character at the end is shown when the rest of it has come, and counts then.
    const size = this.#size - (this.#ended ? 0 : unfinished(bytes));
    const text = bytes.toString('utf8', 0, bytes.length - (this.#size - size));
    const tail = keepTail(text, { lines: this.#lines + (size > this.#lineStart ? 1 : 0), bytes: size });
    if (tail.truncated) this.#startLog();
    return tail;
  }

  /**
   * What was printed since this was last asked.
   *
   * Of more than about 100 KB only the end is there, and `skipped` tells how many bytes are not.
   */
  take(): { text: string; skipped: number } {
    const fresh = this.#size - this.#taken;
    const bytes = this.#end(fresh);
    const skipped = fresh - bytes.length;
    this.#taken = this.#size;
    if (skipped > 0) this.#decoder = new StringDecoder();
    const text = this.#decoder.write(bytes) + (this.#ended ? this.#decoder.end() : '');
    return { text: skipped > 0 ? text.replace(/^\uFFFD+/, '') : text, skipped };
  }

  /** How long the last line is. */
  get lastLineBytes(): number {
    return this.#endsOpen ? this.#size - this.#lineStart : this.#lineStart - this.#lineBefore - 1;
  }

  /** All of the output, once it is more than `tail` shows. */
  get log(): OutputLog | undefined {
    return this.#log;
  }

  get #endsOpen(): boolean {
    return this.#size > this.#lineStart;
  }

  /** The last bytes, or as many of them as are still here. */
  #end(length: number): Buffer {
    const from = Math.max(0, this.#heldBytes - length);
    return this.#held?.subarray(from, this.#heldBytes) ?? Buffer.alloc(0);
  }

  #moveWindow(held: Buffer): void {
    this.#startLog();
    const from = Math.max(0, this.#heldBytes - WINDOW_BYTES);
    held.copyWithin(0, from, this.#heldBytes);
    this.#heldBytes -= from;
  }

  /** Must happen before the window loses its first byte. */
  #startLog(): void {
    if (this.#log) return;
    this.#log = OutputLog.create(this.#logBytes);
    this.#log.append(this.#end(this.#size));
  }

  /** Byte by byte: a search for each break costs six times as much when the lines are short. */
  #countLines(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] !== LF) continue;
      this.#lines++;
      this.#lineBefore = this.#lineStart;
      this.#lineStart = this.#size + at + 1;
    }
  }
}

/** How many bytes at the end begin a character without ending it. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80 || byte > 0xf4) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}
