const NUL = 0;
const LF = 10;

// More than the longest path and number, and than the longest shown part of a line.
const MAX_FIELD_BYTES = 16 * 1024;

/** A line found by ripgrep: a match or its context. */
export interface FoundLine {
  readonly path: string;
  readonly number: number;
  readonly isMatch: boolean;
  /** Only the beginning, if the line is very long. */
  readonly text: string;
}

/**
 * Parses ripgrep output of the form `path NUL number : text LF`, with `-` for `:` in context lines. No other format
 * bounds the memory for very long lines, neither in ripgrep nor here.
 */
export class RipgrepOutput {
  readonly #onLine: (line: FoundLine) => void;
  #path: string | undefined;
  #field = Buffer.alloc(0);

  constructor(onLine: (line: FoundLine) => void) {
    this.#onLine = onLine;
  }

  /** Parses the next bytes; the buffer may be reused afterwards. */
  add(bytes: Buffer): void {
    for (let rest = bytes; rest.length > 0; ) {
      const end = rest.indexOf(this.#path === undefined ? NUL : LF);
      this.#append(end < 0 ? rest : rest.subarray(0, end));
      if (end < 0) return;
      this.#finishField();
      rest = rest.subarray(end + 1);
    }
  }

  /** The last output that is no found line: an error, or a notice about a binary file. */
  get message(): string {
    return this.#path === undefined ? this.#field.toString() : '';
  }

  #append(bytes: Buffer): void {
    const room = MAX_FIELD_BYTES - this.#field.length;
    this.#field = Buffer.concat([this.#field, bytes.subarray(0, room)]);
  }

  #finishField(): void {
    const field = this.#field.toString();
    this.#field = Buffer.alloc(0);
    if (this.#path === undefined) {
      this.#path = field.replace(BINARY_WARNING, '');
      return;
    }
    const [start, number, sign] = /^(\d+)([:-])/.exec(field) ?? ['', '0', ':'];
    this.#onLine({ path: this.#path, number: Number(number), isMatch: sign === ':', text: field.slice(start.length) });
    this.#path = undefined;
  }
}

// ripgrep prints this about the previous file, before the next path, if a match came before its first NUL.
const BINARY_WARNING = /^.*: WARNING: stopped searching binary file after match \(found .* byte around offset \d+\)\n/s;
