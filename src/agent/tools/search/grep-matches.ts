import type { ToolOutput } from '../../tool.ts';
import { printableName, ResultLines } from '../result-lines.ts';
import type { FoundLine } from './ripgrep.ts';

export const MAX_LINE_CHARACTERS = 500;

export interface MatchOptions {
  readonly limit: number;
  readonly context: number;
  /** Whether a file passes the glob. */
  readonly includesFile: (path: string) => boolean;
}

/** Collects the found lines in the form the model sees. */
export class GrepMatches {
  readonly #options: MatchOptions;
  readonly #lines = new ResultLines();
  #count = 0;
  #last: FoundLine | undefined;
  #hasMore = false;
  #linesTruncated = false;

  constructor(options: MatchOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Returns whether the search should continue. */
  add(line: FoundLine): boolean {
    const { path, number, isMatch, text } = line;
    const shownPath = path.replace(/^\.\//, '');
    if (!this.#options.includesFile(shownPath)) return true;
    this.#hasMore = this.#count === this.#options.limit && !this.#followsLast(line);
    if (this.#hasMore) return false;
    if (isMatch) {
      this.#count++;
      this.#last = line;
    }
    const sign = isMatch ? ':' : '-';
    return this.#lines.push(
      `${printableName(shownPath)}${sign}${number}${sign} ${this.#shorten(text.replace(/\r$/, ''))}`,
    );
  }

  output(): ToolOutput {
    const { limit } = this.#options;
    const more = `${limit} matches limit reached. Use limit=${limit * 2} for more, or refine pattern`;
    const cut = `Some lines truncated to ${MAX_LINE_CHARACTERS} chars. Use read tool to see full lines`;
    return this.#lines.output({
      limitNotice: this.#hasMore ? more : undefined,
      notices: this.#linesTruncated ? [cut] : [],
      details: {
        ...(this.#hasMore && { matchLimitReached: limit }),
        ...(this.#linesTruncated && { linesTruncated: true }),
      },
    });
  }

  /** Whether a line is context after the last shown match. */
  #followsLast({ path, number, isMatch }: FoundLine): boolean {
    return !isMatch && path === this.#last?.path && number <= this.#last.number + this.#options.context;
  }

  #shorten(line: string): string {
    const cut = shortenLine(line);
    if (cut !== line) this.#linesTruncated = true;
    return cut;
  }
}

/** Truncates a long line without splitting a character. */
export function shortenLine(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  return `${line.slice(0, MAX_LINE_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')}... [truncated]`;
}
