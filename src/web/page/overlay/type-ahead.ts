/** A letter that comes later than this begins another word. */
const TYPING_MS = 1000;

type TypedKey = Pick<KeyboardEvent, 'key' | 'timeStamp' | 'ctrlKey' | 'metaKey' | 'altKey'>;

interface Named {
  readonly words: string;
}

/** What is typed over a list that has no search. */
export class TypeAhead {
  #typed = '';
  #lastAt = 0;

  /** Where the first of these is that begins with what was typed by now; undefined when none does. */
  find({ key, timeStamp, ctrlKey, metaKey, altKey }: TypedKey, all: readonly Named[]): number | undefined {
    if (key.length !== 1 || ctrlKey || metaKey || altKey) return undefined;
    const before = timeStamp - this.#lastAt < TYPING_MS ? this.#typed : '';
    this.#typed = before + key.toLowerCase();
    this.#lastAt = timeStamp;
    const found = all.findIndex(({ words }) => words.toLowerCase().startsWith(this.#typed));
    return found < 0 ? undefined : found;
  }
}
