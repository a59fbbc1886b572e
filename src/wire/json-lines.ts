/** A longer line is answered with an error and thrown away as it arrives. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** What an agent may say in one line to its own client: as much as a string can hold. */
export const MAX_RECORD_BYTES = 512 * 1024 * 1024;

/** How much of a line that is too long is kept, to find the request's id in. */
const HEAD_BYTES = 4096;

const LF = 10;

export type InputLine = { readonly text: string } | { readonly tooLong: number; readonly head: string };

/**
 * Cuts bytes into lines. LF alone ends a line: readers that also break at U+2028 tear legal JSON strings apart.
 * CRLF, a byte order mark, blank lines and a last line without its end are tolerated; time is linear in the bytes.
 */
export class LineReader {
  readonly #limit: number;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #partial: Uint8Array = EMPTY;
  #size = 0;

  constructor(limit = MAX_LINE_BYTES) {
    this.#limit = limit;
  }

  /** The lines that this chunk completes. */
  push(chunk: Uint8Array): InputLine[] {
    const lines: InputLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#finish(lines, chunk.subarray(start, end));
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  /** The line that the end of the input completes, if there is one. */
  end(): InputLine[] {
    const lines: InputLine[] = [];
    this.#finish(lines, EMPTY);
    return lines;
  }

  /** Copies a piece of an unfinished line, so that tiny chunks cost no more than their bytes. */
  #keep(piece: Uint8Array): void {
    const before = this.#size;
    this.#size += piece.length;
    const kept = this.#kept;
    if (kept > this.#partial.length) this.#partial = resized(this.#partial, Math.max(kept, 2 * this.#partial.length));
    else if (this.#size > this.#limit && this.#partial.length > kept) this.#partial = resized(this.#partial, kept);
    if (kept > before) this.#partial.set(piece.subarray(0, kept - before), before);
  }

  /** How many bytes of the unfinished line are kept. */
  get #kept(): number {
    return this.#size <= this.#limit ? this.#size : Math.min(this.#size, HEAD_BYTES);
  }

  #finish(lines: InputLine[], rest: Uint8Array): void {
    const isWhole = this.#size === 0 && rest.length <= this.#limit;
    if (!isWhole) this.#keep(rest);
    const size = isWhole ? rest.length : this.#size;
    const text = this.#decoder.decode(isWhole ? rest : this.#partial.subarray(0, this.#kept));
    this.#partial = EMPTY;
    this.#size = 0;
    if (size > this.#limit) lines.push({ tooLong: size, head: text });
    else if (!BLANK.test(text)) lines.push({ text: stripEnds(text) });
  }
}

const EMPTY = new Uint8Array(0);

const BLANK = /^\uFEFF?[ \t\r]*$/;

const stripEnds = (text: string) => text.slice(text.startsWith('\uFEFF') ? 1 : 0, text.endsWith('\r') ? -1 : undefined);

function resized(bytes: Uint8Array, size: number): Uint8Array {
  const other = new Uint8Array(size);
  other.set(bytes.subarray(0, size));
  return other;
}

// Legal inside JSON strings, but many line readers break at them.
const LINE_BREAKERS = /[\u0085\u2028\u2029]/g;

/** One record as a line that no reader can cut in two. */
export const toLine = (record: object): string => `${escapeLineBreaks(JSON.stringify(record))}\n`;

/** JSON without the characters at which some readers break lines. */
export const escapeLineBreaks = (json: string): string =>
  json.search(LINE_BREAKERS) === -1 ? json : json.replace(LINE_BREAKERS, escapeUnit);

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
