/** A longer line is answered with an error and thrown away as it arrives. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** What an agent may say in one line to its own client: as much as a string can hold. */
export const MAX_ANSWER_BYTES = 512 * 1024 * 1024;

/** How much of a line that is too long is kept, to find the request's id in. */
const HEAD_BYTES = 4096;

const LF = 10;

export type Line = { readonly text: string } | { readonly tooLong: number; readonly head: string };

/**
 * Cuts bytes into lines. LF alone ends a line: readers that also break at U+2028 tear legal JSON strings apart.
 * CRLF, a byte order mark, blank lines and a last line without its end are tolerated; time is linear in the bytes.
 */
export class LineReader {
  readonly #limit: number;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #begun: Uint8Array = nothing;
  #size = 0;

  constructor(limit = MAX_LINE_BYTES) {
    this.#limit = limit;
  }

  /** The lines that this chunk completes. */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#finish(lines, chunk.subarray(start, end));
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  /** The line that the end of the input completes, if there is one. */
  end(): Line[] {
    const lines: Line[] = [];
    this.#finish(lines, nothing);
    return lines;
  }

  /** Copies a piece of an unfinished line, so that tiny chunks cost no more than their bytes. */
  #keep(piece: Uint8Array): void {
    const before = this.#size;
    this.#size += piece.length;
    const kept = this.#kept;
    if (kept > this.#begun.length) this.#begun = resized(this.#begun, Math.max(kept, 2 * this.#begun.length));
    else if (this.#size > this.#limit && this.#begun.length > kept) this.#begun = resized(this.#begun, kept);
    if (kept > before) this.#begun.set(piece.subarray(0, kept - before), before);
  }

  /** How many bytes of the unfinished line are kept. */
  get #kept(): number {
    return this.#size <= this.#limit ? this.#size : Math.min(this.#size, HEAD_BYTES);
  }

  #finish(lines: Line[], rest: Uint8Array): void {
    const isWhole = this.#size === 0 && rest.length <= this.#limit;
    if (!isWhole) this.#keep(rest);
    const size = isWhole ? rest.length : this.#size;
    const text = this.#decoder.decode(isWhole ? rest : this.#begun.subarray(0, this.#kept));
    this.#begun = nothing;
    this.#size = 0;
    if (size > this.#limit) lines.push({ tooLong: size, head: text });
    else if (!BLANK.test(text)) lines.push({ text: bare(text) });
  }
}

const nothing = new Uint8Array(0);

const BLANK = /^\uFEFF?[ \t\r]*$/;

const bare = (text: string) => text.slice(text.startsWith('\uFEFF') ? 1 : 0, text.endsWith('\r') ? -1 : undefined);

function resized(bytes: Uint8Array, size: number): Uint8Array {
  const other = new Uint8Array(size);
  other.set(bytes.subarray(0, size));
  return other;
}

// Legal inside JSON strings, but many line readers break at them.
const LINE_BREAKERS = /[\u0085\u2028\u2029]/g;

/** One record as a line that no reader can cut in two. */
export const toLine = (record: object): string => `${toText(JSON.stringify(record))}\n`;

/** JSON without the characters at which some readers break lines. */
export const toText = (json: string): string =>
  json.search(LINE_BREAKERS) === -1 ? json : json.replace(LINE_BREAKERS, escapeUnit);

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
