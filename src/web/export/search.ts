import { colour, placesOf, unfold } from '../found-text.ts';
import type { Conversation } from './conversation.ts';
import { allWords } from './session/entry-words.ts';
import type { Entry } from './session/session.ts';
import { unclip } from './unclip.ts';

/** The entries that hold what was searched for, and the one among them that is looked at. */
export class Search {
  readonly #conversation: Conversation;
  readonly #words = new Map<Entry, string>();
  #needle = '';
  #hits: readonly Entry[] = [];
  #at = -1;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  get isActive(): boolean {
    return this.#needle !== '';
  }

  /** Which hit is looked at, and how many there are on this branch. */
  get position(): { readonly at: number; readonly of: number } {
    return { at: this.#at + 1, of: this.#hits.length };
  }

  find(text: string): void {
    this.#needle = text.trim().toLowerCase();
    this.refresh();
  }

  /** Looks again, since another branch is shown. */
  refresh(): void {
    this.#hits = this.isActive ? this.#conversation.branch.filter((entry) => this.matches(entry)) : [];
    this.#at = -1;
    this.mark();
  }

  matches(entry: Entry): boolean {
    let words = this.#words.get(entry);
    if (words === undefined) {
      words = allWords(entry).toLowerCase();
      this.#words.set(entry, words);
    }
    return words.includes(this.#needle);
  }

  /** Goes to the next hit, or to the one before; at the end it begins again. */
  step(by: 1 | -1): HTMLElement | undefined {
    const { length } = this.#hits;
    if (length === 0) return undefined;
    this.#at = this.#at === -1 && by === -1 ? length - 1 : (this.#at + by + length) % length;
    const hit = this.#hits[this.#at];
    const place = hit && this.#conversation.placeOf(hit);
    if (place) this.#unfold(place);
    this.mark();
    return place;
  }

  /** Colours what was found, as far as it is built. */
  mark(): void {
    const built = (entry: Entry | undefined) => entry && this.#conversation.builtPlaceOf(entry);
    const found = this.#hits.flatMap((hit) => built(hit) ?? []);
    colour(this.#needle, found, built(this.#hits[this.#at]));
  }

  #unfold(place: HTMLElement): void {
    if (placesOf(this.#needle, place).length === 0) unclip(place);
    unfold(placesOf(this.#needle, place));
  }
}
