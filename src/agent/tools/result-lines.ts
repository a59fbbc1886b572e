import { type ToolOutput, textOutput } from '../tool.ts';
import { formatBytes, keepHead, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from './truncate.ts';

// Notices and details of a list of results.
interface ResultNotices {
  // States that the requested limit was reached.
  readonly limitNotice?: string | undefined;
  readonly notices?: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Collects results, one per line, up to the first that exceeds the output limits. */
export class ResultLines {
  readonly #lines: string[] = [];
  #bytes = 0;

  get length(): number {
    return this.#lines.length;
  }

  /** Returns whether another line could still fit. */
  push(line: string): boolean {
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line) + 1;
    return this.#lines.length <= MAX_OUTPUT_LINES && this.#bytes <= MAX_OUTPUT_BYTES + 1;
  }

  /** Joins as many lines as fit, with notices in brackets. */
  output({ limitNotice, notices = [], details = {} }: ResultNotices = {}): ToolOutput {
    const kept = keepHead(this.#lines.join('\n'));
    const limit = kept.truncatedBy === 'lines' ? `${MAX_OUTPUT_LINES} lines` : formatBytes(MAX_OUTPUT_BYTES);
    const allNotices = [limitNotice, kept.truncated ? `${limit} limit reached` : undefined, ...notices].filter(Boolean);
    const allDetails = kept.truncated ? { ...details, truncation: kept } : details;
    const output = textOutput(allNotices.length > 0 ? `${kept.content}\n\n[${allNotices.join('. ')}]` : kept.content);
    return Object.keys(allDetails).length > 0 ? { ...output, details: allDetails } : output;
  }
}

/** Escapes control characters in a file name, so that it stays on one line. */
export const printableName = (name: string): string => name.replaceAll(/\p{Cc}/gu, escaped);

const escaped = (character: string) =>
  shortEscapes[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
