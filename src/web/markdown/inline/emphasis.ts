import type { Inline } from './inline.ts';

/** A run of stars, underscores or tildes, of which some may be used. */
export interface Marks {
  readonly type: 'marks';
  readonly character: string;
  readonly length: number;
  readonly mayOpen: boolean;
  readonly mayClose: boolean;
  /** Whether it stands before a word, not within. */
  readonly isBeforeWord: boolean;
}

interface Opener extends Marks {
  readonly id: number;
  /** Where it is among what was put out. */
  readonly at: number;
  left: number;
}

type Entry = { readonly inline: Inline; readonly depth: number } | Opener;

/** What is marked within more marks stays text. */
const MAX_NESTING = 30;

/**
 * Makes of marks what they mean. A text that `isOpen` goes on: what begins and does not end yet ends with it.
 * A run that finds no beginning is not looked for again by its like, so that the time is in proportion to the length.
 */
export function withEmphasis(items: readonly (Inline | Marks)[], { isOpen }: { readonly isOpen: boolean }): Inline[] {
  const reader = new EmphasisReader();
  for (const item of items) {
    if (item.type === 'marks') reader.marks(item);
    else reader.put(item);
  }
  if (isOpen) reader.closeAll();
  return reader.inlines();
}

class EmphasisReader {
  readonly #out: Entry[] = [];
  readonly #openers: Opener[] = [];
  /** Of each kind of closing run, the opener up to which there is none for it. */
  readonly #inVain = new Map<string, number>();
  #nextId = 0;

  put(inline: Inline, depth = 0): void {
    this.#out.push({ inline, depth });
  }

  marks(marks: Marks): void {
    let left = marks.length;
    while (marks.mayClose && left > 0) {
      const used = this.#close(marks, left);
      if (used === 0) break;
      left -= used;
    }
    if (left === 0) return;
    const opener = { ...marks, id: this.#nextId++, at: this.#out.length, left };
    this.#out.push(opener);
    if (marks.mayOpen) this.#openers.push(opener);
  }

  closeAll(): void {
    for (let opener = this.#openers.at(-1); opener; opener = this.#openers.at(-1)) {
      const used = opener.isBeforeWord ? this.#wrap(this.#openers.length - 1, Math.min(opener.left, 2)) : 0;
      if (used === 0) this.#openers.pop();
    }
  }

  inlines(): Inline[] {
    return joined(this.#out.map(inlineOf));
  }

  /** How many marks of a closing run are used for the nearest opener that fits. */
  #close(closer: Marks, left: number): number {
    const kind = `${closer.character}${closer.mayOpen}${closer.length % 3}`;
    const lowest = this.#inVain.get(kind) ?? -1;
    for (let at = this.#openers.length - 1; at >= 0; at--) {
      const opener = this.#openers[at];
      if (!opener || opener.id <= lowest) break;
      if (!fits(opener, closer)) continue;
      const count = closer.character === '~' || (opener.left >= 2 && left >= 2) ? 2 : 1;
      return this.#wrap(at, count);
    }
    this.#inVain.set(kind, this.#openers.at(-1)?.id ?? -1);
    return 0;
  }

  /** Marks everything behind an opener. What is too deep for that is too deep for those around it as well. */
  #wrap(at: number, count: number): number {
    const opener = this.#openers[at];
    const inside = opener ? this.#out.slice(opener.at + 1) : [];
    const depth = inside.reduce((most, entry) => Math.max(most, 'depth' in entry ? entry.depth + 1 : 1), 0);
    if (!opener || depth === 0 || depth > MAX_NESTING) {
      this.#openers.length = 0;
      return 0;
    }
    const type = opener.character === '~' ? 'strike' : count === 2 ? 'strong' : 'emphasis';
    opener.left -= count;
    this.#openers.length = opener.left === 0 ? at : at + 1;
    this.#out.length = opener.left === 0 ? opener.at : opener.at + 1;
    this.put({ type, children: joined(inside.map(inlineOf)) }, depth);
    return count;
  }
}

/** Runs that could both begin and end something do not go together when their lengths add up to three. */
function fits(opener: Marks, closer: Marks): boolean {
  if (opener.character !== closer.character) return false;
  if (closer.character === '~') return opener.length === closer.length;
  const isOdd = (opener.mayClose || closer.mayOpen) && (opener.length + closer.length) % 3 === 0;
  return !isOdd || (opener.length % 3 === 0 && closer.length % 3 === 0);
}

const inlineOf = (entry: Entry): Inline =>
  'inline' in entry ? entry.inline : { type: 'text', text: entry.character.repeat(entry.left) };

/** Texts beside each other as one. */
function joined(inlines: readonly Inline[]): Inline[] {
  const all: Inline[] = [];
  for (const inline of inlines) {
    const last = all.at(-1);
    if (inline.type === 'text' && last?.type === 'text')
      all[all.length - 1] = { type: 'text', text: last.text + inline.text };
    else all.push(inline);
  }
  return all;
}
