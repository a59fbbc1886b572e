import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { searchableText } from '../../../message/searchable-text.ts';
import type { MessageRow } from '../rows/rows.ts';

/** Searches the rows for a text and tracks the current match. */
export class Finder {
  readonly #rows: ReadonlySignal<readonly MessageRow[]>;
  readonly #needle = signal('');
  /** The first visible row when the search began. */
  #from: number | undefined;
  /** The match that the user went to. */
  readonly #chosen = signal<number | undefined>(undefined);
  readonly #texts = new WeakMap<MessageRow, string>();
  readonly #hits = computed(() => this.#find(this.#needle.value));
  readonly #current = computed(() => {
    const { value: chosen } = this.#chosen;
    return chosen !== undefined && this.#hits.value.includes(chosen) ? chosen : this.#first(this.#hits.value);
  });

  constructor(rows: ReadonlySignal<readonly MessageRow[]>) {
    this.#rows = rows;
  }

  /** In lower case; empty without a search. */
  get needle(): ReadonlySignal<string> {
    return this.#needle;
  }

  /** The keys of the matching rows, in order. */
  get hits(): ReadonlySignal<readonly number[]> {
    return this.#hits;
  }

  /** The key of the current match; undefined without matches. */
  get current(): ReadonlySignal<number | undefined> {
    return this.#current;
  }

  /** Searches from a row on. */
  find(text: string, from: number | undefined): void {
    const needle = text.trim().toLowerCase();
    if (needle === this.#needle.peek()) return;
    this.#from = from;
    this.#chosen.value = undefined;
    this.#needle.value = needle;
  }

  /** Goes to the first match, unless the user went to one; returns its key. */
  goToFirst(): number | undefined {
    return this.#chosen.peek() === undefined ? this.#goTo(this.#current.peek()) : undefined;
  }

  /** Goes to the next or previous match, and wraps around. */
  step(by: 1 | -1): number | undefined {
    const hits = this.#hits.peek();
    return this.#goTo(hits.at((hits.indexOf(this.#current.peek() ?? -1) + by) % hits.length));
  }

  #goTo(key: number | undefined): number | undefined {
    this.#chosen.value = key;
    return key;
  }

  /** The first match from the initially visible row on, or else the last. */
  #first(hits: readonly number[]): number | undefined {
    const indexes = new Map(this.#rows.peek().map((row, index) => [row.key, index]));
    const from = this.#from === undefined ? Infinity : (indexes.get(this.#from) ?? 0);
    return hits.find((hit) => (indexes.get(hit) ?? 0) >= from) ?? hits.at(-1);
  }

  #find(needle: string): readonly number[] {
    if (needle === '') return [];
    return this.#rows.value.filter((row) => this.#textOf(row).includes(needle)).map(({ key }) => key);
  }

  #textOf(row: MessageRow): string {
    const known = this.#texts.get(row);
    if (known !== undefined) return known;
    const messages = [...(row.message ? [row.message] : []), ...row.results.values()];
    const text = messages
      .map((message) => searchableText({ ...message }))
      .join('\n')
      .toLowerCase();
    this.#texts.set(row, text);
    return text;
  }
}
