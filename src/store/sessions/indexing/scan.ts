import { readSync } from 'node:fs';
import type { Span } from './entry-index.ts';
import { type LineFacts, parseFacts } from './line-facts.ts';
import { EDGE_BYTES, quickParse } from './quick-parse.ts';

/** Longer lines are neither written nor read. */
export const MAX_ENTRY_BYTES = 256 * 1024 * 1024;

const BLOCK_BYTES = 1024 * 1024;
const LF = 0x0a;
const CR = 0x0d;

interface ScanResult {
  // End of the last line read; a partial line follows, unless the scan was stopped.
  readonly end: number;
  // Lines that hold neither an entry nor a header.
  readonly unknownLines: number;
}

/** Calls `onEntry` for each entry of an open session file in order, reading blocks, until it returns 'stop'. */
export function scan(fd: number, onEntry: (facts: LineFacts, span: Span) => 'stop' | undefined): ScanResult {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let unknownLines = 0;
  let position = 0;

  const stopsAt = (facts: LineFacts | undefined, span: Span) => {
    if (!facts) unknownLines += 1;
    return facts !== undefined && facts.type !== 'session' && onEntry(facts, span) === 'stop';
  };

  for (;;) {
    const filled = readSync(fd, block, 0, BLOCK_BYTES, position);
    const bytes = block.subarray(0, filled);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      const span = { offset: position + start, length: end - start };
      const textEnd = bytes[end - 1] === CR ? end - 1 : end;
      if (textEnd > start && stopsAt(factsOf(bytes, start, textEnd), span)) return { end: span.offset, unknownLines };
      start = end + 1;
    }
    position += start;
    if (start > 0) continue;
    const end = filled < BLOCK_BYTES ? undefined : findLineEnd(fd, position + filled, block);
    if (end === undefined) return { end: position, unknownLines };
    const span = { offset: position, length: end - position };
    if (stopsAt(longLineFacts(fd, span), span)) return { end: span.offset, unknownLines };
    position = end + 1;
  }
}

const factsOf = (bytes: Buffer, start: number, end: number) =>
  quickParse(bytes, start, end) ?? parseFacts(bytes.toString('utf8', start, end));

function findLineEnd(fd: number, from: number, block: Buffer): number | undefined {
  for (let position = from; ; ) {
    const filled = readSync(fd, block, 0, block.length, position);
    if (filled === 0) return undefined;
    const end = block.subarray(0, filled).indexOf(LF);
    if (end !== -1) return position + end;
    position += filled;
  }
}

/** A line longer than a block is read in full only when its two ends do not suffice. */
function longLineFacts(fd: number, { offset, length }: Span): LineFacts | undefined {
  if (length > MAX_ENTRY_BYTES) return undefined;
  const ends = Buffer.allocUnsafe(EDGE_BYTES * 2);
  readSync(fd, ends, 0, EDGE_BYTES, offset);
  readSync(fd, ends, EDGE_BYTES, EDGE_BYTES, offset + length - EDGE_BYTES);
  const end = ends.at(-1) === CR ? ends.length - 1 : ends.length;
  const facts = quickParse(ends, 0, end);
  if (facts) return facts;
  const line = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length; ) {
    const count = readSync(fd, line, filled, length - filled, offset + filled);
    if (count === 0) return undefined;
    filled += count;
  }
  return parseFacts(line.toString());
}
