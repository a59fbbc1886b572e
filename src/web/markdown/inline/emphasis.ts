import type { Inline } from './inline.ts';

// A run of stars, underscores or tildes, of which some may be used.
export interface DelimiterRun {
  readonly type: 'run';
  readonly character: string;
  readonly length: number;
  readonly mayOpen: boolean;
  readonly mayClose: boolean;
  // Whether it stands at the start of a word.
  readonly isBeforeWord: boolean;
}

interface Opener extends DelimiterRun {
  readonly id: number;
  readonly at: number;
  left: number;
}

type OutputItem = { readonly inline: Inline; readonly depth: number } | Opener;

// Deeper emphasis stays text.
const MAX_EMPHASIS_NESTING = 30;

/** Resolves delimiter runs to emphasis. If `isOpen`, unclosed emphasis ends with the text.
 * A failed search for an opener is not repeated, so the time is linear. */
export function resolveEmphasis(
  items: readonly (Inline | DelimiterRun)[],
  { isOpen }: { readonly isOpen: boolean },
): Inline[] {
  const resolver = new EmphasisResolver();
  for (const item of items) {
    if (item.type === 'run') resolver.addRun(item);
    else resolver.addInline(item);
  }
  if (isOpen) resolver.closeAll();
  return resolver.inlines();
}

class EmphasisResolver {
  readonly #out: OutputItem[] = [];
  readonly #openers: Opener[] = [];
  /** For each kind of closing run, the last opener known not to match. */
  readonly #searchedUpTo = new Map<string, number>();
  #nextId = 0;

  addInline(inline: Inline, depth = 0): void {
    this.#out.push({ inline, depth });
  }

  addRun(run: DelimiterRun): void {
    let left = run.length;
    while (run.mayClose && left > 0) {
      const used = this.#close(run, left);
      if (used === 0) break;
      left -= used;
    }
    if (left === 0) return;
    const opener = { ...run, id: this.#nextId++, at: this.#out.length, left };
    this.#out.push(opener);
    if (run.mayOpen) this.#openers.push(opener);
  }

  closeAll(): void {
    for (let opener = this.#openers.at(-1); opener; opener = this.#openers.at(-1)) {
      const used = opener.isBeforeWord ? this.#wrap(this.#openers.length - 1, Math.min(opener.left, 2)) : 0;
      if (used === 0) this.#openers.pop();
    }
  }

  inlines(): Inline[] {
    return joinTexts(this.#out.map(inlineOf));
  }

  /** Returns how many delimiters the nearest matching opener uses. */
  #close(closer: DelimiterRun, left: number): number {
    const kind = `${closer.character}${closer.mayOpen}${closer.length % 3}`;
    const lowest = this.#searchedUpTo.get(kind) ?? -1;
    for (let at = this.#openers.length - 1; at >= 0; at--) {
      const opener = this.#openers[at];
      if (!opener || opener.id <= lowest) break;
      if (!fits(opener, closer)) continue;
      const count = closer.character === '~' || (opener.left >= 2 && left >= 2) ? 2 : 1;
      return this.#wrap(at, count);
    }
    this.#searchedUpTo.set(kind, this.#openers.at(-1)?.id ?? -1);
    return 0;
  }

  /** Wraps all items after an opener. If that nests too deeply, no outer opener can be used either. */
  #wrap(at: number, count: number): number {
    const opener = this.#openers[at];
    const inside = opener ? this.#out.slice(opener.at + 1) : [];
    const depth = inside.reduce((most, entry) => Math.max(most, 'depth' in entry ? entry.depth + 1 : 1), 0);
    if (!opener || depth === 0 || depth > MAX_EMPHASIS_NESTING) {
      this.#openers.length = 0;
      return 0;
    }
    const type = opener.character === '~' ? 'strike' : count === 2 ? 'strong' : 'emphasis';
    opener.left -= count;
    this.#openers.length = opener.left === 0 ? at : at + 1;
    this.#out.length = opener.left === 0 ? opener.at : opener.at + 1;
    this.addInline({ type, children: joinTexts(inside.map(inlineOf)) }, depth);
    return count;
  }
}

/** CommonMark: runs that can both open and close do not match if their lengths add up to a multiple of three. */
function fits(opener: DelimiterRun, closer: DelimiterRun): boolean {
  if (opener.character !== closer.character) return false;
  if (closer.character === '~') return opener.length === closer.length;
  const isOdd = (opener.mayClose || closer.mayOpen) && (opener.length + closer.length) % 3 === 0;
  return !isOdd || (opener.length % 3 === 0 && closer.length % 3 === 0);
}

const inlineOf = (entry: OutputItem): Inline =>
  'inline' in entry ? entry.inline : { type: 'text', text: entry.character.repeat(entry.left) };

function joinTexts(inlines: readonly Inline[]): Inline[] {
  const all: Inline[] = [];
  for (const inline of inlines) {
    const last = all.at(-1);
    if (inline.type === 'text' && last?.type === 'text')
      all[all.length - 1] = { type: 'text', text: last.text + inline.text };
    else all.push(inline);
  }
  return all;
}

const SPACE = /^\s?$/u;
const PUNCTUATION = /[\p{P}\p{S}]/u;
// Scripts without spaces between words.
const SCRIPT_WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** The delimiter run at a position, and whether it can open or close emphasis by its neighbours. */
export function delimiterRunAt(text: string, at: number): DelimiterRun {
  const character = text[at] ?? '';
  let end = at;
  while (text[end] === character) end++;
  const before = characterBefore(text, at);
  const after = String.fromCodePoint(text.codePointAt(end) ?? 0x20);
  const isLeft = flanks({ inner: after, outer: before });
  const isRight = flanks({ inner: before, outer: after });
  const isWord = character === '_';
  return {
    type: 'run',
    character,
    length: end - at,
    mayOpen: isLeft && (!isWord || !isRight || PUNCTUATION.test(before)),
    mayClose: isRight && (!isWord || !isLeft || PUNCTUATION.test(after)),
    isBeforeWord: SPACE.test(before) || PUNCTUATION.test(before),
  };
}

function flanks({ inner, outer }: { readonly inner: string; readonly outer: string }): boolean {
  if (SPACE.test(inner)) return false;
  return !PUNCTUATION.test(inner) || SPACE.test(outer) || PUNCTUATION.test(outer) || SCRIPT_WITHOUT_SPACES.test(outer);
}

function characterBefore(text: string, at: number): string {
  const last = text[at - 1] ?? ' ';
  return /[\udc00-\udfff]/.test(last) ? text.slice(Math.max(0, at - 2), at) : last;
}
