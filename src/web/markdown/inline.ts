import { CodeSpans } from './code-spans.ts';
import { safeLink } from './safe-link.ts';

/** What a line of markdown consists of. Markup of HTML is not part of it and stays text. */
export type Inline =
  | { readonly type: 'text' | 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'strike'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly children: readonly Inline[] }
  | { readonly type: 'break' };

/** A run of stars that may begin something, or a bracket that may begin a link. */
type Opener = { readonly type: 'opener'; readonly mark: string; readonly at: number };
type Item = Inline | Opener;

const MAX_NESTING = 40;
const MAX_ADDRESS = 2000;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const SPECIAL = /[\\`*_~[\]!<\n]|https?:\/\//g;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/y;
const BARE_ADDRESS = /https?:\/\/[^\s<>"'`*|\\]{1,2000}/y;
const MARKS = /\*{1,3}|_{1,3}|~~/y;

/** Reads the text of a paragraph. Takes time in proportion to its length, whatever it holds. */
export function parseInline(text: string): Inline[] {
  return new InlineReader(text).read();
}

class InlineReader {
  readonly #text: string;
  readonly #spans: CodeSpans;
  readonly #items: Item[] = [];
  readonly #openers: Opener[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#spans = new CodeSpans(text);
  }

  read(): Inline[] {
    while (this.#at < this.#text.length) {
      SPECIAL.lastIndex = this.#at;
      const next = SPECIAL.exec(this.#text)?.index ?? this.#text.length;
      this.#say(this.#text.slice(this.#at, next));
      this.#at = next;
      if (next < this.#text.length) this.#at += this.#special(this.#text[next] ?? '');
    }
    return settled(this.#items);
  }

  /** Reads one of the characters that mean something. Like all below, answers how many characters that took. */
  #special(character: string): number {
    switch (character) {
      case '\\':
        return this.#escape();
      case '`':
        return this.#code();
      case '\n':
        return this.#lineEnd();
      case '!':
        // The picture itself is never fetched: what stands for it is a link.
        return this.#text[this.#at + 1] === '[' ? 1 : this.#take(1);
      case '[':
        return this.#open('[');
      case ']':
        return this.#closeLink();
      case '<':
        return this.#address(AUTOLINK, 1);
      case 'h':
        return this.#address(BARE_ADDRESS, 0);
      default:
        return this.#marks();
    }
  }

  #escape(): number {
    const next = this.#text[this.#at + 1] ?? '';
    if (next !== '\n' && !PUNCTUATION.test(next)) return this.#take(1);
    this.#items.push(next === '\n' ? { type: 'break' } : { type: 'text', text: next });
    return 2;
  }

  #code(): number {
    const span = this.#spans.at(this.#at);
    if ('text' in span) this.#items.push({ type: 'code', text: span.text });
    else this.#say(this.#text.slice(this.#at, span.end));
    return span.end - this.#at;
  }

  #lineEnd(): number {
    if (this.#text.endsWith('  ', this.#at)) this.#items.push({ type: 'break' });
    else this.#say('\n');
    return 1;
  }

  #address(pattern: RegExp, group: 0 | 1): number {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    const whole = found?.[group] ?? '';
    const address = group === 0 ? withoutTail(whole) : whole;
    const href = safeLink(address);
    if (!found || href === undefined) return this.#take(1);
    this.#items.push({ type: 'link', href, children: [{ type: 'text', text: address }] });
    return group === 0 ? address.length : found[0].length;
  }

  #marks(): number {
    MARKS.lastIndex = this.#at;
    const mark = MARKS.exec(this.#text)?.[0];
    if (mark === undefined) return this.#take(1);
    const before = this.#text[this.#at - 1] ?? ' ';
    const after = this.#text[this.#at + mark.length] ?? ' ';
    const inWord = mark.startsWith('_') && /\w/.test(before) && /\w/.test(after);
    const mayClose = !/\s/.test(before) && !inWord;
    const mayOpen = !/\s/.test(after) && !inWord;
    if (mayClose && this.#close(mark)) return mark.length;
    return mayOpen ? this.#open(mark) : this.#take(mark.length);
  }

  #open(mark: string): number {
    if (this.#openers.length >= MAX_NESTING) return this.#take(mark.length);
    const opener = { type: 'opener', mark, at: this.#items.length } as const;
    this.#items.push(opener);
    this.#openers.push(opener);
    return mark.length;
  }

  #close(mark: string): boolean {
    const opener = this.#openers.findLast((candidate) => candidate.mark === mark);
    if (!opener || this.#openers.slice(this.#openers.indexOf(opener)).some((inner) => inner.mark === '[')) return false;
    const children = this.#since(opener);
    if (children.length === 0) {
      this.#items.push(opener);
      this.#openers.push(opener);
      return false;
    }
    this.#items.push(marked(mark, children));
    return true;
  }

  #closeLink(): number {
    const opener = this.#openers.findLast((candidate) => candidate.mark === '[');
    const target = opener && this.#linkTarget();
    if (!opener || !target) {
      if (opener) this.#openers.splice(this.#openers.indexOf(opener), 1);
      return this.#take(1);
    }
    const children = this.#since(opener);
    const href = safeLink(target.address);
    if (href !== undefined) this.#items.push({ type: 'link', href, children });
    else this.#items.push(...children, { type: 'text', text: ` (${target.address})` });
    return target.length;
  }

  /** What stands in parentheses behind a bracket. */
  #linkTarget(): { address: string; length: number } | undefined {
    const ahead = this.#text.slice(this.#at, this.#at + MAX_ADDRESS);
    const [whole, pointed, plain = ''] =
      /^\]\(\s{0,9}(?:<([^<>\n]*)>|((?:[^\s()]|\([^\s()]*\))*))(?:\s{1,9}(?:"[^"\n]*"|'[^'\n]*'))?\s{0,9}\)/.exec(
        ahead,
      ) ?? [];
    return whole === undefined ? undefined : { address: pointed ?? plain, length: whole.length };
  }

  /** Takes what was read since an opener, and the opener, out again. */
  #since(opener: Opener): Inline[] {
    const children = settled(this.#items.splice(opener.at + 1));
    this.#items.pop();
    this.#openers.length = this.#openers.indexOf(opener);
    return children;
  }

  #take(length: number): number {
    this.#say(this.#text.slice(this.#at, this.#at + length));
    return length;
  }

  #say(text: string): void {
    if (text !== '') this.#items.push({ type: 'text', text });
  }
}

function marked(mark: string, children: readonly Inline[]): Inline {
  if (mark === '~~') return { type: 'strike', children };
  if (mark.length === 1) return { type: 'emphasis', children };
  const strong = { type: 'strong', children } as const;
  return mark.length === 2 ? strong : { type: 'emphasis', children: [strong] };
}

/** What turned out to begin nothing is text. */
const settled = (items: readonly Item[]): Inline[] =>
  items.map((item) => (item.type === 'opener' ? { type: 'text', text: item.mark } : item));

/** An address in a sentence, without what ends the sentence. */
function withoutTail(address: string): string {
  const tail = address.includes('(') ? '.,;:!?_~' : '.,;:!?_~)';
  let end = address.length;
  while (end > 0 && tail.includes(address[end - 1] ?? '')) end--;
  return address.slice(0, end);
}
