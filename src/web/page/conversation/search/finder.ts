import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { messageWords } from '../../../message/message-words.ts';
import type { Row } from '../rows/rows.ts';

/** The rows that hold what is searched for, and the one among them that is looked at. */
export class Finder {
  readonly #rows: ReadonlySignal<readonly Row[]>;
  readonly #needle = signal('');
  readonly #current = signal<number | undefined>(undefined);
  readonly #words = new WeakMap<Row, string>();
  readonly #hits = computed(() => this.#find(this.#needle.value));

  constructor(rows: ReadonlySignal<readonly Row[]>) {
    this.#rows = rows;
  }

  /** In lower case; empty where nothing is searched for. */
  get needle(): ReadonlySignal<string> {
    return this.#needle;
  }

  /** The keys of the rows that were found, in order. */
  get hits(): ReadonlySignal<readonly number[]> {
    return this.#hits;
  }

  /** The key of the row that is looked at. */
  get current(): ReadonlySignal<number | undefined> {
    return this.#current;
  }

  find(text: string): void {
    this.#current.value = undefined;
    this.#needle.value = text.trim().toLowerCase();
  }

  /** Goes to the first hit that is not before this row, or else to the last one; answers its key. */
  begin(key: number | undefined): number | undefined {
    const places = new Map(this.#rows.peek().map((row, index) => [row.key, index]));
    const from = key === undefined ? Infinity : (places.get(key) ?? 0);
    const hits = this.#hits.peek();
    return this.#goTo(hits.find((hit) => (places.get(hit) ?? 0) >= from) ?? hits.at(-1));
  }

  /** Goes to the next hit, or to the one before; at the end it begins again. */
  step(by: 1 | -1): number | undefined {
    const hits = this.#hits.peek();
    const at = hits.indexOf(this.#current.peek() ?? -1);
    return this.#goTo(hits.at(at === -1 && by === -1 ? -1 : (at + by) % hits.length));
  }

  #goTo(key: number | undefined): number | undefined {
    this.#current.value = key;
    return key;
  }

  #find(needle: string): readonly number[] {
    if (needle === '') return [];
    return this.#rows.value.filter((row) => this.#wordsOf(row).includes(needle)).map(({ key }) => key);
  }

  #wordsOf(row: Row): string {
    const known = this.#words.get(row);
    if (known !== undefined) return known;
    const messages = [...(row.message ? [row.message] : []), ...row.results.values()];
    const words = messages
      .map((message) => messageWords({ ...message }))
      .join('\n')
      .toLowerCase();
    this.#words.set(row, words);
    return words;
  }
}
