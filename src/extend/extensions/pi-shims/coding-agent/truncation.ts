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

/** Keeps the beginning of a text, in whole lines. */
export function truncateHead(content: string, limits?: Partial<TextLimits>): Truncation {
  return keepHead(content, undefined, complete(limits));
}

export function truncateTail(content: string, limits?: Partial<TextLimits>): Truncation {
  const lines = content === '' ? 0 : withoutFinalNewline(content).split('\n').length;
  return keepTail(content, { lines, bytes: Buffer.byteLength(content) }, complete(limits));
}

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
