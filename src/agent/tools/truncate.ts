export const MAX_OUTPUT_LINES = 2000;
export const MAX_OUTPUT_BYTES = 50 * 1024;

/** Limits of a truncated text. */
export interface TextLimits {
  readonly maxLines: number;
  readonly maxBytes: number;
}

const DEFAULT_LIMITS: TextLimits = { maxLines: MAX_OUTPUT_LINES, maxBytes: MAX_OUTPUT_BYTES };

interface TextSize {
  readonly lines: number;
  readonly bytes: number;
}

/** Result of a truncation, with the field names of pi. */
export interface Truncation extends TextLimits {
  readonly content: string;
  readonly truncated: boolean;
  readonly truncatedBy: 'lines' | 'bytes' | null;
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly outputLines: number;
  readonly outputBytes: number;
  readonly lastLinePartial: boolean;
  readonly firstLineExceedsLimit: boolean;
}

/**
 * Keeps whole lines from the beginning; nothing if the first line alone is too long. `total` is the size of the whole
 * text if `text` is only its beginning, which must exceed the limits.
 */
export function keepHead(text: string, total?: TextSize, limits = DEFAULT_LIMITS): Truncation {
  const lines = text.split('\n');
  const kept: string[] = [];
  let bytes = 0;
  let truncatedBy: Truncation['truncatedBy'] = null;
  for (const line of lines) {
    const size = Buffer.byteLength(line) + (kept.length > 0 ? 1 : 0);
    if (kept.length === limits.maxLines) truncatedBy = 'lines';
    else if (bytes + size > limits.maxBytes) truncatedBy = 'bytes';
    if (truncatedBy) break;
    kept.push(line);
    bytes += size;
  }
  return {
    ...truncationOf(kept.join('\n'), total ?? { lines: lines.length, bytes: Buffer.byteLength(text) }, truncatedBy),
    ...limits,
    outputLines: kept.length,
    firstLineExceedsLimit: kept.length === 0 && truncatedBy === 'bytes',
  };
}

/** Keeps whole lines from the end, or the end of the last line if that alone is too long. */
export function keepTail(text: string, total: TextSize, limits = DEFAULT_LIMITS): Truncation {
  const lines = text === '' ? [] : withoutFinalNewline(text).split('\n');
  const kept: string[] = [];
  let bytes = 0;
  let truncatedBy: Truncation['truncatedBy'] = total.lines > lines.length ? 'bytes' : null;
  for (const line of lines.toReversed()) {
    const size = Buffer.byteLength(line) + (kept.length > 0 ? 1 : 0);
    if (kept.length === limits.maxLines) truncatedBy = 'lines';
    else if (bytes + size > limits.maxBytes) truncatedBy = 'bytes';
    if (kept.length === limits.maxLines || bytes + size > limits.maxBytes) break;
    kept.unshift(line);
    bytes += size;
  }
  if (truncatedBy === null) return { ...truncationOf(text, total, null), ...limits, outputLines: kept.length };
  if (kept.length > 0)
    return { ...truncationOf(kept.join('\n'), total, truncatedBy), ...limits, outputLines: kept.length };
  const end = Buffer.from(lines.at(-1) ?? '')
    .subarray(-limits.maxBytes)
    .toString()
    .replace(/^\uFFFD+/, '');
  return { ...truncationOf(end, total, 'bytes'), ...limits, outputLines: 1, lastLinePartial: true };
}

function truncationOf(content: string, total: TextSize, truncatedBy: Truncation['truncatedBy']) {
  return {
    content,
    truncated: truncatedBy !== null,
    truncatedBy,
    totalLines: total.lines,
    totalBytes: total.bytes,
    outputBytes: Buffer.byteLength(content),
    lastLinePartial: false,
    firstLineExceedsLimit: false,
  };
}

export const withoutFinalNewline = (text: string) => (text.endsWith('\n') ? text.slice(0, -1) : text);

/** Formats a number of bytes for people. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)}KB`;
  return `${(bytes / (1024 * 1024)).toFixed(1)}MB`;
}
