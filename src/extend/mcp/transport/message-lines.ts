/** A longer message from a server, or more unread output to it, closes the connection. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

const LF = 10;

const BYTE_ORDER_MARK = '\uFEFF';

/** Splits the output of a server into lines. Only LF ends a line; a byte-order mark at its start is dropped. */
export class MessageLines {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The completed lines; undefined if a line exceeds the limit. */
  push(bytes: Buffer): string[] | undefined {
    const lines: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      if (!this.#keep(bytes.subarray(start, end))) return undefined;
      lines.push(this.#take());
      start = end + 1;
    }
    return this.#keep(bytes.subarray(start)) ? lines : undefined;
  }

  #keep(piece: Buffer): boolean {
    this.#size += piece.length;
    if (this.#size > this.#limit) return false;
    if (piece.length > 0) this.#pieces.push(piece);
    return true;
  }

  #take(): string {
    const line = Buffer.concat(this.#pieces).toString('utf8');
    this.#pieces = [];
    this.#size = 0;
    return line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
  }
}
