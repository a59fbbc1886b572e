import type { FileHandle } from 'node:fs/promises';
import { throwIfAborted } from '../unless-aborted.ts';
import { MAX_OUTPUT_BYTES } from './truncate.ts';

const CHUNK_BYTES = 256 * 1024;
const LF = 10;

/** Lines of a file, without the break after the last one. */
export interface LineRange {
  /** The first bytes of the lines: all of them, or more than may be shown. */
  readonly head: Buffer;
  readonly lines: number;
  readonly bytes: number;
  readonly firstLineBytes: number;
  readonly totalLines: number;
}

/** Reads a range of lines from a file of any size and counts all lines, in constant memory. */
export async function scanLines(
  file: FileHandle,
  { offset, limit }: { offset: number; limit: number },
  signal: AbortSignal,
): Promise<LineRange> {
  const head: Buffer[] = [];
  let roomLeft = MAX_OUTPUT_BYTES + 1;
  let line = 1;
  let start = offset === 1 ? 0 : Number.POSITIVE_INFINITY;
  let firstEnd = Number.POSITIVE_INFINITY;
  let end = Number.POSITIVE_INFINITY;
  let size = 0;
  for await (const chunk of chunksOf(file, signal)) {
    // Byte by byte: searching for each break takes six times as long if lines are short.
    for (let at = 0; at < chunk.length; at++) {
      if (chunk[at] !== LF) continue;
      line++;
      if (line === offset) start = size + at + 1;
      if (line === offset + 1) firstEnd = size + at;
      if (line === offset + limit) end = size + at;
    }
    const selected = chunk.subarray(Math.max(0, start - size), Math.max(0, Math.min(end - size, chunk.length)));
    const taken = Buffer.from(selected.subarray(0, roomLeft));
    roomLeft -= taken.length;
    if (taken.length > 0) head.push(taken);
    size += chunk.length;
  }
  if (offset > line) throw new Error(`Offset ${offset} is beyond end of file (${line} lines total)`);
  return {
    head: Buffer.concat(head),
    lines: Math.min(line - offset + 1, limit),
    bytes: Math.min(end, size) - start,
    firstLineBytes: Math.min(firstEnd, size) - start,
    totalLines: line,
  };
}

/** Reads a file up to its current size. Each chunk is only valid until the next one. */
async function* chunksOf(file: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  const { size } = await file.stat();
  // Some system files report size 0 although they have content.
  const end = size === 0 ? Number.POSITIVE_INFINITY : size;
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end));
  for (let position = 0; position < end; ) {
    throwIfAborted(signal);
    const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, end - position), position);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
    position += bytesRead;
  }
}
