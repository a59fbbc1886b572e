import { Readable } from 'node:stream';
import type { ReadStream } from 'node:tty';

/** How a terminal brackets what is pasted, once it was asked to. */
const PASTE_START = '\u001B[200~';
const PASTE_END = '\u001B[201~';

const NO_BYTES = Buffer.alloc(0);

/** How many of the last bytes are the beginning of a mark. Escape alone is a key that somebody pressed. */
function partialMarkLength(bytes: Buffer): number {
  for (let length = PASTE_START.length - 1; length > 1; length--) {
    if (bytes.subarray(-length).toString('latin1') === PASTE_START.slice(0, length)) return length;
  }
  return 0;
}

/** The keys that are typed, without what is pasted: that is handed over as a whole. */
export class Keyboard extends Readable {
  readonly #input: ReadStream;
  readonly #onPaste: (text: string) => void;
  /** What there is of a paste that has not ended. */
  #paste: Buffer | undefined;
  /** What may be the beginning of the mark that begins one. */
  #partialMark: Buffer = NO_BYTES;

  constructor(input: ReadStream, onPaste: (text: string) => void) {
    super();
    this.#input = input;
    this.#onPaste = onPaste;
    // Whoever asked something before has paused it.
    input.on('data', (bytes) => this.#take(bytes)).resume();
    const end = () => this.push(null);
    // A terminal that was closed under us fails.
    input.once('end', end).once('error', end);
  }

  override _read(): void {}

  /** For readline, which decides when keys come one by one. */
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
    // One by one: of keys that come together, readline does not look where each leaves the cursor.
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
