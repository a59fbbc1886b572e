// A later letter starts a new prefix.
const TYPING_MS = 1000;

type TypedKey = Pick<KeyboardEvent, 'key' | 'timeStamp' | 'ctrlKey' | 'metaKey' | 'altKey'>;

interface Named {
  readonly words: string;
}

/** Finds items of a list without search by the typed prefix. */
export class TypeAhead {
  #typed = '';
  #lastAt = 0;

  /** Returns the index of the first item with the prefix typed so far; undefined for none. */
  find({ key, timeStamp, ctrlKey, metaKey, altKey }: TypedKey, all: readonly Named[]): number | undefined {
    if (key.length !== 1 || ctrlKey || metaKey || altKey) return undefined;
    const before = timeStamp - this.#lastAt < TYPING_MS ? this.#typed : '';
    this.#typed = before + key.toLowerCase();
    this.#lastAt = timeStamp;
    const found = all.findIndex(({ words }) => words.toLowerCase().startsWith(this.#typed));
    return found < 0 ? undefined : found;
  }
}
