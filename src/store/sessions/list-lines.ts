import { readSync } from 'node:fs';
import { GLANCE_BYTES } from './indexing/glance.ts';
import { LONGEST_LINE } from './indexing/scan.ts';
import { readAt } from './read-at.ts';

/** How much of the end of a long line is kept: the numbers of an answer stand there. */
export const END_BYTES = 512;

const BLOCK_BYTES = 256 * 1024;
const LF = 0x0a;
const CR = 0x0d;

/** One line, between `start` and `end` of these bytes. Of a long one only its two ends are there. */
export interface ListedLine {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** The whole of it; undefined when it is too long for anybody. */
  text(): string | undefined;
}

/** Tells the lines of an open file in order, and yields after every block. Half a line at the end is left out. */
export function* tellLines(fd: number, tell: (line: ListedLine) => void): Generator<void> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  for (let position = 0; ; ) {
    const filled = readSync(fd, block, 0, BLOCK_BYTES, position);
    const told = tellWhole(block.subarray(0, filled), tell);
    yield;
    position += told;
    if (told > 0) continue;
    const end = filled < BLOCK_BYTES ? undefined : yield* findLineEnd(fd, position + filled, block);
    if (end === undefined) return;
    tell(longLine(fd, position, end - position));
    position = end + 1;
  }
}

/** Tells the lines that end within these bytes; answers where the last of them does. */
function tellWhole(bytes: Buffer, tell: (line: ListedLine) => void): number {
  let start = 0;
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
    const textEnd = bytes[end - 1] === CR ? end - 1 : end;
    if (textEnd > start) tell(new ShortLine(bytes, start, textEnd));
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
  const bytes = Buffer.concat([readAt(fd, offset, GLANCE_BYTES), readAt(fd, offset + length - END_BYTES, END_BYTES)]);
  const end = bytes.at(-1) === CR ? bytes.length - 1 : bytes.length;
  return {
    bytes,
    start: 0,
    end,
    text: () => (length > LONGEST_LINE ? undefined : readAt(fd, offset, length).toString()),
  };
}
