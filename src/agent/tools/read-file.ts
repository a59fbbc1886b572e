import type { FileHandle } from 'node:fs/promises';
import { type ToolOutput, textOutput } from '../tool.ts';
import { throwIfAborted } from '../unless-aborted.ts';
import { imageTypeOf } from './image-header.ts';
import { type LineRange, scanLines } from './line-range.ts';
import { openRegularFile } from './file-checks.ts';
import { keepHead, MAX_OUTPUT_BYTES, formatBytes, type Truncation } from './truncate.ts';

// Number of bytes that decide whether a file is binary.
const SAMPLE_BYTES = 8 * 1024;

// Share of unprintable characters from which on a file counts as binary.
const MAX_UNPRINTABLE_SHARE = 0.3;

// The path as the model wrote it, the file it resolves to, and a range of lines.
export interface FileRead {
  readonly path: string;
  readonly target: string;
  readonly offset: number;
  readonly limit: number;
}

/** Reads a text file or an image into the form that models accept. */
export async function readForModel(read: FileRead, signal: AbortSignal): Promise<ToolOutput> {
  throwIfAborted(signal);
  const file = await openRegularFile(read.target);
  try {
    const sample = await readSample(file);
    if (imageTypeOf(sample)) {
      const { readImage } = await import('./read-image.ts');
      return await readImage(file, signal);
    }
    if (isBinary(sample)) {
      const { size } = await file.stat();
      return textOutput(`[Binary file of ${formatBytes(size)}, not shown. Use bash to look into it: file, xxd, strings.]`);
    }
    return excerpt(read, await scanLines(file, read, signal));
  } finally {
    await file.close();
  }
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
