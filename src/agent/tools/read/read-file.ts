import type { FileHandle } from 'node:fs/promises';
import type { FileAccess } from '../../permission.ts';
import { type ToolOutput, textOutput } from '../../tool.ts';
import { throwIfAborted } from '../../unless-aborted.ts';
import { openRegularFile } from '../file-checks.ts';
import { formatBytes, keepHead, MAX_OUTPUT_BYTES, type Truncation } from '../truncate.ts';
import { readImage } from './image.ts';
import { imageTypeOf } from './image-header.ts';

// Number of bytes that decide whether a file is binary.
const SAMPLE_BYTES = 8 * 1024;

// Share of unprintable characters from which on a file counts as binary.
const MAX_UNPRINTABLE_SHARE = 0.3;

/** The path as the model wrote it, the file it resolves to, and a range of lines. */
export interface FileRead {
  readonly path: string;
  readonly target: string;
  /** Absent: every file may be read. */
  readonly files?: FileAccess | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** Reads a text file or an image into the form that models accept. */
export async function readForModel(read: FileRead, signal: AbortSignal): Promise<ToolOutput> {
  throwIfAborted(signal);
  const file = await (read.files ? openGuarded(read, read.files) : openRegularFile(read.target));
  try {
    const sample = await readSample(file);
    if (imageTypeOf(sample)) return await readImage(file, signal);
    if (isBinary(sample)) {
      const { size } = await file.stat();
      return textOutput(
        `[Binary file of ${formatBytes(size)}, not shown. Use bash to look into it: file, xxd, strings.]`,
      );
    }
    return excerpt(read, await scanLines(file, read, signal));
  } finally {
    await file.close();
  }
}

async function openGuarded(read: FileRead, files: FileAccess): Promise<FileHandle> {
  const { openReadable } = await import('../guarded-files.ts');
  return openReadable({ ...read, files });
}

async function readSample(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

/** A NUL byte or many unprintable or invalid characters make a file binary. */
function isBinary(sample: Buffer): boolean {
  if (sample.includes(0)) return true;
  const text = sample.toString();
  const unprintable = text.match(/[^\P{Cc}\s]|\uFFFD/gu)?.length ?? 0;
  return unprintable > text.length * MAX_UNPRINTABLE_SHARE;
}

/** Formats lines of a file for the model. */
export function excerpt({ path, offset }: Pick<FileRead, 'path' | 'offset'>, range: LineRange): ToolOutput {
  const kept = keepHead(range.head.toString(), range);
  const last = offset - 1 + (kept.truncated ? kept.outputLines : range.lines);
  const note = continuationNotice({ path, kept, offset, last, range });
  const output = textOutput(kept.content + (note && kept.content ? `\n\n${note}` : note));
  return kept.truncated ? { ...output, details: { truncation: kept } } : output;
}

interface ExcerptRange {
  readonly path: string;
  readonly kept: Truncation;
  readonly offset: number;
  readonly last: number;
  readonly range: LineRange;
}

function continuationNotice({ path, kept, offset, last, range }: ExcerptRange): string {
  const total = range.totalLines;
  if (kept.firstLineExceedsLimit) {
    const size = formatBytes(range.firstLineBytes);
    return `[Line ${offset} is ${size}, exceeds ${formatBytes(MAX_OUTPUT_BYTES)} limit. Use bash: sed -n '${offset}p' ${path} | head -c ${MAX_OUTPUT_BYTES}]`;
  }
  if (kept.truncated) {
    const limit = kept.truncatedBy === 'bytes' ? ` (${formatBytes(MAX_OUTPUT_BYTES)} limit)` : '';
    return `[Showing lines ${offset}-${last} of ${total}${limit}. Use offset=${last + 1} to continue.]`;
  }
  return last < total ? `[${total - last} more lines in file. Use offset=${last + 1} to continue.]` : '';
}

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
