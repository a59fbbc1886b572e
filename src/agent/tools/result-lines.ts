import { type ToolOutput, textOutput } from '../tool.ts';
import { keepHead, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES, formatBytes } from './truncate.ts';

/** What there is to say about a list. */
interface ResultNotices {
  /** That there is more than was asked for. */
  readonly limitNotice?: string | undefined;
  readonly notices?: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Results, one a line, up to the first that cannot be shown any more. */
export class ResultLines {
  readonly #lines: string[] = [];
  #bytes = 0;

  get length(): number {
    return this.#lines.length;
  }

  /** Answers whether another one could be shown. */
  push(line: string): boolean {
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line) + 1;
    return this.#lines.length <= MAX_OUTPUT_LINES && this.#bytes <= MAX_OUTPUT_BYTES + 1;
  }

  /** As many as fit, and in brackets what is missing. */
  output({ limitNotice, notices = [], details = {} }: ResultNotices = {}): ToolOutput {
    const kept = keepHead(this.#lines.join('\n'));
    const limit = kept.truncatedBy === 'lines' ? `${MAX_OUTPUT_LINES} lines` : formatBytes(MAX_OUTPUT_BYTES);
    const allNotices = [limitNotice, kept.truncated ? `${limit} limit reached` : undefined, ...notices].filter(Boolean);
    const allDetails = kept.truncated ? { ...details, truncation: kept } : details;
    const output = textOutput(allNotices.length > 0 ? `${kept.content}\n\n[${allNotices.join('. ')}]` : kept.content);
    return Object.keys(allDetails).length > 0 ? { ...output, details: allDetails } : output;
  }
}

/** A file name for one line: what would break the line or move a cursor is written as an escape. */
export const printableName = (name: string): string => name.replaceAll(/\p{Cc}/gu, escaped);

const escaped = (character: string) =>
  shortEscapes[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
