import {
  formatBytes,
  keepHead,
  keepTail,
  MAX_OUTPUT_BYTES,
  MAX_OUTPUT_LINES,
  type TextLimits,
  type Truncation,
  withoutFinalNewline,
} from '../../../../agent/tools/truncate.ts';

export const DEFAULT_MAX_LINES = MAX_OUTPUT_LINES;
export const DEFAULT_MAX_BYTES = MAX_OUTPUT_BYTES;
export const GREP_MAX_LINE_LENGTH = 500;
export const formatSize = formatBytes;

/** Keeps the beginning of a text, in whole lines. A final newline does not start another line. */
export function truncateHead(content: string, limits?: Partial<TextLimits>): Truncation {
  const head = keepHead(withoutFinalNewline(content), sizeOf(content), complete(limits));
  if (head.truncated || content === '') return { ...head, outputLines: content === '' ? 0 : head.outputLines };
  return { ...head, content, outputBytes: Buffer.byteLength(content) };
}

export function truncateTail(content: string, limits?: Partial<TextLimits>): Truncation {
  const both = complete(limits);
  const tail = keepTail(content, sizeOf(content), both);
  // Part of a line counts as a line.
  return tail.lastLinePartial && both.maxLines === 1 ? { ...tail, truncatedBy: 'lines' } : tail;
}

const sizeOf = (content: string) => ({
  lines: content === '' ? 0 : withoutFinalNewline(content).split('\n').length,
  bytes: Buffer.byteLength(content),
});

export function truncateLine(line: string, maxChars = GREP_MAX_LINE_LENGTH): { text: string; wasTruncated: boolean } {
  if (line.length <= maxChars) return { text: line, wasTruncated: false };
  return { text: `${line.slice(0, maxChars)}... [truncated]`, wasTruncated: true };
}

const complete = ({
  maxLines = MAX_OUTPUT_LINES,
  maxBytes = MAX_OUTPUT_BYTES,
}: Partial<TextLimits> = {}): TextLimits => ({
  maxLines: Math.max(1, maxLines),
  maxBytes: Math.max(1, maxBytes),
});
