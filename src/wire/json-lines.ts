/** A longer line gets an error response and is discarded as it arrives. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** The longest line from an agent to its own client: the longest possible string. */
export const MAX_RECORD_BYTES = 512 * 1024 * 1024;

// The part of a line over the limit that is kept to find the id of the request.
const HEAD_BYTES = 4096;

const LF = 10;

export type InputLine = { readonly text: string } | { readonly tooLong: number; readonly head: string };

/**
 * Splits bytes into lines. Only LF ends a line: readers that also break at U+2028 split legal JSON strings. CRLF, a
 * byte order mark, blank lines and a last line without LF are tolerated; the time is linear in the bytes.
 */
export class LineReader {
  readonly #limit: number;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #partial: Uint8Array = EMPTY;
  #size = 0;

  constructor(limit = MAX_LINE_BYTES) {
    this.#limit = limit;
  }

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

  /** Returns the line that the end of the input completes, if any. */
  end(): InputLine[] {
    const lines: InputLine[] = [];
    this.#finish(lines, EMPTY);
    return lines;
  }

  /** Copies part of an unfinished line, so that small chunks cost no more than their bytes. */
  #keep(piece: Uint8Array): void {
    const before = this.#size;
    this.#size += piece.length;
    const kept = this.#kept;
    if (kept > this.#partial.length) this.#partial = resized(this.#partial, Math.max(kept, 2 * this.#partial.length));
    else if (this.#size > this.#limit && this.#partial.length > kept) this.#partial = resized(this.#partial, kept);
    if (kept > before) this.#partial.set(piece.subarray(0, kept - before), before);
  }

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

/** Serialises a record as a line that no reader splits. */
export const toLine = (record: object): string => `${escapeLineBreaks(JSON.stringify(record))}\n`;

/** Escapes the characters at which some readers break lines. */
export const escapeLineBreaks = (json: string): string =>
  json.search(LINE_BREAKERS) === -1 ? json : json.replace(LINE_BREAKERS, escapeUnit);

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
