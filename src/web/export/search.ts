import type { Conversation } from './conversation.ts';
import { allWords } from './session/entry-words.ts';
import type { Entry } from './session/session.ts';
import { unclip } from './unclip.ts';

/** How many places are coloured at most. */
const MAX_MARKS = 2000;

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
    if (!('highlights' in CSS)) return;
    CSS.highlights.clear();
    if (!this.isActive) return;
    const ranges: Range[] = [];
    for (const hit of this.#hits) {
      const place = this.#conversation.builtPlaceOf(hit);
      if (place) ranges.push(...rangesIn(place, this.#needle));
      if (ranges.length > MAX_MARKS) break;
    }
    const hit = this.#hits[this.#at];
    const place = hit && this.#conversation.builtPlaceOf(hit);
    CSS.highlights.set('found', new Highlight(...ranges));
    CSS.highlights.set('looked-at', new Highlight(...(place ? rangesIn(place, this.#needle) : [])));
  }

  #unfold(place: HTMLElement): void {
    const open = () => {
      const ranges = rangesIn(place, this.#needle);
      for (const { startContainer } of ranges) openAround(startContainer);
      return ranges.length > 0;
    };
    if (open()) return;
    unclip(place);
    open();
  }
}

function openAround(node: Node): void {
  for (let details = node.parentElement?.closest('details'); details; ) {
    details.open = true;
    details = details.parentElement?.closest('details');
  }
}

function rangesIn(place: HTMLElement, needle: string): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
      const range = document.createRange();
      // A letter may be longer in lower case.
      const length = node.nodeValue?.length ?? 0;
      range.setStart(node, Math.min(at, length));
      range.setEnd(node, Math.min(at + needle.length, length));
      ranges.push(range);
    }
  }
  return ranges;
}
