const NUL = 0;
const LF = 10;

/** More than the longest path and number, and than the part of a line that is ever shown. */
const MAX_FIELD_BYTES = 16 * 1024;

/** A line that ripgrep found: a match, or one around it. */
export interface FoundLine {
  readonly path: string;
  readonly number: number;
  readonly isMatch: boolean;
  /** The beginning of the line, if it is very long. */
  readonly text: string;
}

/**
 * Reads what ripgrep prints as `path NUL number : text LF`, with `-` for `:` in lines around a match.
 *
 * That is the only format of which a very long line takes no memory, neither there nor here.
 */
export class RipgrepOutput {
  readonly #onLine: (line: FoundLine) => void;
  #path: string | undefined;
  #field = Buffer.alloc(0);

  constructor(onLine: (line: FoundLine) => void) {
    this.#onLine = onLine;
  }

  /** Takes the bytes that came next. They are good for the call only. */
  add(bytes: Buffer): void {
    for (let rest = bytes; rest.length > 0; ) {
      const end = rest.indexOf(this.#path === undefined ? NUL : LF);
      this.#append(end < 0 ? rest : rest.subarray(0, end));
      if (end < 0) return;
      this.#finishField();
      rest = rest.subarray(end + 1);
    }
  }

  /** What it said last that is no found line: why it failed, or that a file is binary. */
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

/** Said about the file before, in front of the next path, when a match came before the first NUL in it. */
const BINARY_WARNING = /^.*: WARNING: stopped searching binary file after match \(found .* byte around offset \d+\)\n/s;
