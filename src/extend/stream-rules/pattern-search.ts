import { createContext, Script } from 'node:vm';
import type { Pattern } from './pattern.ts';
import type { View } from './text-window.ts';

/** How long a regular expression may look at a text. Generous: a busy machine must not switch off a rule. */
const MAX_SEARCH_MS = 500;

/** Looks for patterns in texts. One that takes too long is never looked for again. */
export class PatternSearch {
  readonly #onGivenUp: (pattern: Pattern) => void;
  readonly #givenUp = new Set<Pattern>();
  #timed: ((search: () => boolean) => boolean) | undefined;

  constructor(onGivenUp: (pattern: Pattern) => void) {
    this.#onGivenUp = onGivenUp;
  }

  finds(pattern: Pattern, { text, from }: View): boolean {
    if (this.#givenUp.has(pattern)) return false;
    const { regex, isTame } = pattern;
    const search = () => {
      regex.lastIndex = from;
      return regex.test(text);
    };
    if (isTame) return search();
    this.#timed ??= timed();
    try {
      return this.#timed(search);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      this.#givenUp.add(pattern);
      this.#onGivenUp(pattern);
      return false;
    }
  }
}

/** Only a script can be called off while it works. */
function timed(): (search: () => boolean) => boolean {
  const script = new Script('search()');
  const place = { search: () => false };
  const context = createContext(place);
  return (search) => {
    place.search = search;
    return script.runInContext(context, { timeout: MAX_SEARCH_MS }) as boolean;
  };
}
