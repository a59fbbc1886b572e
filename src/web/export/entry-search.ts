import { findTextRanges, highlightText, openDetailsAround } from '../text-search.ts';
import { type BranchView, showAllText } from './branch-view.ts';
import { searchableEntryText } from './session/entry-text.ts';
import type { TreeEntry } from './session/exported-session.ts';

/** Finds entries that contain a text, and steps through the hits of the current branch. */
export class EntrySearch {
  readonly #branchView: BranchView;
  readonly #texts = new Map<TreeEntry, string>();
  #needle = '';
  #hits: readonly TreeEntry[] = [];
  #current = -1;

  constructor(branchView: BranchView) {
    this.#branchView = branchView;
  }

  get isActive(): boolean {
    return this.#needle !== '';
  }

  /** The number of the current hit and the count of hits on this branch. */
  get position(): { readonly at: number; readonly of: number } {
    return { at: this.#current + 1, of: this.#hits.length };
  }

  find(text: string): void {
    this.#needle = text.trim().toLowerCase();
    this.refresh();
  }

  refresh(): void {
    this.#hits = this.isActive ? this.#branchView.branch.filter((entry) => this.matches(entry)) : [];
    this.#current = -1;
    this.highlight();
  }

  matches(entry: TreeEntry): boolean {
    let text = this.#texts.get(entry);
    if (text === undefined) {
      text = searchableEntryText(entry).toLowerCase();
      this.#texts.set(entry, text);
    }
    return text.includes(this.#needle);
  }

  /** Moves to the next or previous hit, and wraps around. */
  step(by: 1 | -1): HTMLElement | undefined {
    const { length } = this.#hits;
    if (length === 0) return undefined;
    this.#current = this.#current === -1 && by === -1 ? length - 1 : (this.#current + by + length) % length;
    const hit = this.#hits[this.#current];
    const node = hit && this.#branchView.nodeOf(hit);
    if (node) this.#reveal(node);
    this.highlight();
    return node;
  }

  highlight(): void {
    const builtNode = (entry: TreeEntry | undefined) => entry && this.#branchView.builtNodeOf(entry);
    const found = this.#hits.flatMap((hit) => builtNode(hit) ?? []);
    highlightText(this.#needle, found, builtNode(this.#hits[this.#current]));
  }

  #reveal(node: HTMLElement): void {
    if (findTextRanges(this.#needle, node).length === 0) showAllText(node);
    openDetailsAround(findTextRanges(this.#needle, node));
  }
}
