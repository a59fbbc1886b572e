import { readSync } from 'node:fs';
import { readAt } from '../entry-reader.ts';
import { EDGE_BYTES } from '../indexing/quick-parse.ts';
import { MAX_ENTRY_BYTES } from '../indexing/scan.ts';

/** Bytes kept of the end of a long line: an assistant message has its usage there. */
export const TAIL_BYTES = 512;

const BLOCK_BYTES = 256 * 1024;
const LF = 0x0a;
const CR = 0x0d;

/** A line, between `start` and `end` of `bytes`. Of a long line only its two ends are present. */
export interface ListedLine {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** The whole line; undefined when it exceeds the maximum length. */
  text(): string | undefined;
}

/** Calls `onLine` for each line of an open file, and yields after every block. A partial last line is omitted. */
export function* eachLine(fd: number, onLine: (line: ListedLine) => void): Generator<void> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  for (let position = 0; ; ) {
    const filled = readSync(fd, block, 0, BLOCK_BYTES, position);
    const consumed = eachLineIn(block.subarray(0, filled), onLine);
    yield;
    position += consumed;
    if (consumed > 0) continue;
    const end = filled < BLOCK_BYTES ? undefined : yield* findLineEnd(fd, position + filled, block);
    if (end === undefined) return;
    onLine(longLine(fd, position, end - position));
    position = end + 1;
  }
}

/** Calls `onLine` for the lines that end within these bytes; returns the end of the last one. */
function eachLineIn(bytes: Buffer, onLine: (line: ListedLine) => void): number {
  let start = 0;
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
    const textEnd = bytes[end - 1] === CR ? end - 1 : end;
    if (textEnd > start) onLine(new ShortLine(bytes, start, textEnd));
    start = end + 1;
  }
  return start;
}

class ShortLine implements ListedLine {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
  }

  text(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }
}

function* findLineEnd(fd: number, from: number, block: Buffer): Generator<void, number | undefined> {
  for (let position = from; ; ) {
    const filled = readSync(fd, block, 0, block.length, position);
    yield;
    if (filled === 0) return undefined;
    const end = block.subarray(0, filled).indexOf(LF);
    if (end !== -1) return position + end;
    position += filled;
  }
}

function longLine(fd: number, offset: number, length: number): ListedLine {
  const bytes = Buffer.concat([readAt(fd, offset, EDGE_BYTES), readAt(fd, offset + length - TAIL_BYTES, TAIL_BYTES)]);
  const end = bytes.at(-1) === CR ? bytes.length - 1 : bytes.length;
  return {
    bytes,
    start: 0,
    end,
    text: () => (length > MAX_ENTRY_BYTES ? undefined : readAt(fd, offset, length).toString()),
  };
}
