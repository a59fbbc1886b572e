import { Readable } from 'node:stream';
import type { ReadStream } from 'node:tty';

// The marks around pasted text, in bracketed paste mode.
const PASTE_START = '\u001B[200~';
const PASTE_END = '\u001B[201~';

const NO_BYTES = Buffer.alloc(0);

// The number of trailing bytes that may start a paste mark. A lone Escape is a key.
function partialMarkLength(bytes: Buffer): number {
  for (let length = PASTE_START.length - 1; length > 1; length--) {
    if (bytes.subarray(-length).toString('latin1') === PASTE_START.slice(0, length)) return length;
  }
  return 0;
}

/** The typed keys of a terminal; pasted text goes to `onPaste` as a whole. */
export class Keyboard extends Readable {
  readonly #input: ReadStream;
  readonly #onPaste: (text: string) => void;
  /** An unfinished paste. */
  #paste: Buffer | undefined;
  /** Bytes that may start a paste mark. */
  #partialMark: Buffer = NO_BYTES;

  constructor(input: ReadStream, onPaste: (text: string) => void) {
    super();
    this.#input = input;
    this.#onPaste = onPaste;
    // An earlier reader may have paused the input.
    input.on('data', (bytes) => this.#take(bytes)).resume();
    const end = () => this.push(null);
    // A closed terminal fails.
    input.once('end', end).once('error', end);
  }

  override _read(): void {}

  /** Called by readline. */
  setRawMode(raw: boolean): void {
    this.#input.setRawMode(raw);
  }

  #take(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#paste) this.#takePasted(Buffer.concat([this.#paste, bytes]));
    else this.#takeTyped(Buffer.concat([this.#partialMark, bytes]));
  }

  #takeTyped(bytes: Buffer): void {
    const start = bytes.indexOf(PASTE_START);
    const end = start === -1 ? bytes.length - partialMarkLength(bytes) : start;
    // Byte by byte: readline loses track of the cursor when keys arrive together.
    for (const byte of bytes.subarray(0, end)) this.push(Buffer.of(byte));
    this.#partialMark = start === -1 ? bytes.subarray(end) : NO_BYTES;
    if (start !== -1) this.#takePasted(bytes.subarray(start + PASTE_START.length));
  }

  #takePasted(bytes: Buffer): void {
    const end = bytes.indexOf(PASTE_END);
    this.#paste = end === -1 ? bytes : undefined;
    if (end === -1) return;
    this.#onPaste(bytes.toString('utf8', 0, end));
    this.#take(bytes.subarray(end + PASTE_END.length));
  }
}
