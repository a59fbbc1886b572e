import { createContext, Script } from 'node:vm';
import type { Pattern } from './pattern.ts';
import type { TextView } from './text-window.ts';

// Generous, because a busy machine must not disable a rule.
const MAX_SEARCH_MS = 500;

/** Matches patterns against text. A pattern that times out is never tried again. */
export class PatternSearch {
  readonly #onTimeout: (pattern: Pattern) => void;
  readonly #abandoned = new Set<Pattern>();
  #runTimed: ((search: () => boolean) => boolean) | undefined;

  constructor(onTimeout: (pattern: Pattern) => void) {
    this.#onTimeout = onTimeout;
  }

  matches(pattern: Pattern, { text, from }: TextView): boolean {
    if (this.#abandoned.has(pattern)) return false;
    const { regex, isSafe } = pattern;
    const search = () => {
      regex.lastIndex = from;
      return regex.test(text);
    };
    if (isSafe) return search();
    this.#runTimed ??= createTimedRun();
    try {
      return this.#runTimed(search);
    } catch (error) {
      if (!isSearchTimeout(error)) throw error;
      this.#abandoned.add(pattern);
      this.#onTimeout(pattern);
      return false;
    }
  }
}

/** Whether a timed run was interrupted. */
export const isSearchTimeout = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** Runs a search; throws after `MAX_SEARCH_MS`. Only code in a vm script can be interrupted. */
export function createTimedRun(): (search: () => boolean) => boolean {
  const script = new Script('search()');
  const sandbox = { search: () => false };
  const context = createContext(sandbox);
  return (search) => {
    sandbox.search = search;
    return script.runInContext(context, { timeout: MAX_SEARCH_MS }) as boolean;
  };
}
