import { labelOf } from '../block/definitions.ts';
import { bareAddressAt, pointedAddressAt } from './addresses.ts';
import { CodeSpans } from './code-spans.ts';
import { type Marks, withEmphasis } from './emphasis.ts';
import { entityAt } from './entities.ts';
import { marksAt } from './flanking.ts';
import { type Inline, inlineWords, withoutLinks } from './inline.ts';
import { labelAt, mayBecomeTarget, targetAt } from './link-target.ts';
import { safeLink } from './safe-link.ts';

interface Options {
  /** Whether more is to come: then nothing is shown of what may still become a mark. */
  readonly isOpen?: boolean | undefined;
  /** Where a link leads whose address is told elsewhere. */
  readonly lookUp?: ((label: string) => string | undefined) | undefined;
}

/** A bracket that may begin a link or a picture. */
interface Bracket {
  readonly type: 'bracket';
  readonly isPicture: boolean;
  /** Where it is among the items, and where its words begin. */
  readonly item: number;
  readonly from: number;
  readonly isInWord: boolean;
  hasInner: boolean;
}

const MAX_LABEL = 999;
const MAX_ALT = 200;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const SPECIAL = /[\\`*_~[\]!<&\n]|https?:\/\/|www\./g;
const BREAK = /<br[ \t]{0,9}\/?>/iy;
const UNDECIDED_END = /(?:[*_~`\\]+|!?\[|&#?\w{0,8}|<[a-z/!-]{0,10})$/i;

/** Reads the text of a paragraph. Takes time in proportion to its length, whatever it holds. */
export function parseInline(text: string, options: Options = {}): Inline[] {
  return new InlineReader(options.isOpen ? decidedPart(text) : text, options).read();
}

/** A text without marks at its end of which it is not known yet what they mean. */
function decidedPart(text: string): string {
  const tail = text.slice(-40);
  return text.slice(0, text.length - (UNDECIDED_END.exec(tail)?.[0].length ?? 0));
}

class InlineReader {
  readonly #text: string;
  readonly #isOpen: boolean;
  readonly #lookUp: (label: string) => string | undefined;
  readonly #spans: CodeSpans;
  readonly #items: (Inline | Marks | Bracket)[] = [];
  readonly #brackets: Bracket[] = [];
  /** So many brackets are around a link, and cannot become one. */
  #spent = 0;
  #hasComments = true;
  #at = 0;

  constructor(text: string, { isOpen = false, lookUp = () => undefined }: Options) {
    this.#text = text;
    this.#isOpen = isOpen;
    this.#lookUp = lookUp;
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
    return withEmphasis(this.#settled(this.#items), { isOpen: this.#isOpen });
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
      case '&':
        return this.#entity();
      case '!':
        return this.#text[this.#at + 1] === '[' ? this.#openBracket(2) : this.#take(1);
      case '[':
        return this.#openBracket(1);
      case ']':
        return this.#closeBracket();
      case '<':
        return this.#pointed();
      case 'h':
      case 'w':
        return this.#bareAddress();
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
    else if (!this.#isOpen) this.#say(this.#text.slice(this.#at, span.end));
    else {
      this.#items.push({ type: 'code', text: this.#text.slice(span.end) });
      return this.#text.length - this.#at;
    }
    return span.end - this.#at;
  }

  #lineEnd(): number {
    const isHard = this.#text.endsWith('  ', this.#at);
    const last = this.#items.at(-1);
    if (isHard && last?.type === 'text') {
      this.#items.pop();
      this.#say(last.text.trimEnd());
    }
    if (isHard) this.#items.push({ type: 'break' });
    else this.#say('\n');
    return 1;
  }

  #entity(): number {
    const entity = entityAt(this.#text, this.#at);
    if (!entity) return this.#take(1);
    this.#say(entity.text);
    return entity.length;
  }

  /** Something in angle brackets: a line break, a comment or an address. Anything else is text. */
  #pointed(): number {
    BREAK.lastIndex = this.#at;
    const written = BREAK.exec(this.#text)?.[0];
    if (written !== undefined) {
      this.#items.push({ type: 'break' });
      return written.length;
    }
    return this.#comment() || this.#link(pointedAddressAt(this.#text, this.#at));
  }

  #comment(): number {
    if (!this.#hasComments || !this.#text.startsWith('<!--', this.#at)) return 0;
    const end = this.#text.indexOf('-->', this.#at + 4) + 3;
    this.#hasComments = end > 2;
    if (!this.#hasComments) return 0;
    this.#items.push({ type: 'comment', text: this.#text.slice(this.#at, end) });
    return end - this.#at;
  }

  #bareAddress(): number {
    return this.#link(bareAddressAt(this.#text, this.#at));
  }

  #link(found: { readonly address: string; readonly shown: string; readonly length: number } | undefined): number {
    const href = found && safeLink(found.address);
    if (!found || href === undefined) return this.#take(1);
    this.#items.push({ type: 'link', href, children: [{ type: 'text', text: found.shown }] });
    return found.length;
  }

  #marks(): number {
    const marks = marksAt(this.#text, this.#at);
    const isUseful = (marks.mayOpen || marks.mayClose) && (marks.character !== '~' || marks.length === 2);
    if (!isUseful) return this.#take(marks.length);
    this.#items.push(marks);
    return marks.length;
  }

  #openBracket(length: 1 | 2): number {
    const around = this.#brackets.at(-1);
    if (around) around.hasInner = true;
    this.#spent = Math.min(this.#spent, this.#brackets.length);
    const bracket: Bracket = {
      type: 'bracket',
      isPicture: length === 2,
      item: this.#items.length,
      from: this.#at + length,
      isInWord: /\w/.test(this.#text[this.#at - 1] ?? ''),
      hasInner: false,
    };
    this.#brackets.push(bracket);
    this.#items.push(bracket);
    return length;
  }

  #closeBracket(): number {
    const bracket = this.#brackets.pop();
    const isSpent = !bracket?.isPicture && this.#brackets.length < this.#spent;
    if (!bracket || isSpent) return this.#take(1);
    const target = targetAt(this.#text, this.#at + 1) ?? this.#reference(bracket);
    if (target) return this.#linkSince(bracket, target);
    if (!this.#isOpen || bracket.isInWord || !mayBecomeTarget(this.#text, this.#at + 1)) return this.#take(1);
    const inside = this.#since(bracket);
    if (!bracket.isPicture) this.#put(inside);
    return this.#text.length - this.#at;
  }

  #linkSince(bracket: Bracket, { address, length }: { readonly address: string; readonly length: number }): number {
    const inside = this.#since(bracket);
    const href = safeLink(address);
    if (bracket.isPicture) this.#items.push(picture(inlineWords(inside).slice(0, MAX_ALT), { address, href }));
    else if (href === undefined) this.#put(namedBy(address, inside) ? inside : [...inside, addressBehind(address)]);
    else this.#items.push({ type: 'link', href, children: withoutLinks(inside) });
    if (!bracket.isPicture) this.#spent = this.#brackets.length;
    return length + 1;
  }

  /** A link whose address is told elsewhere, under a name of its own or under its words. */
  #reference(bracket: Bracket): { readonly address: string; readonly length: number } | undefined {
    const { label = '', length = 0 } = labelAt(this.#text, this.#at + 1) ?? {};
    const isOwn = label !== '';
    if (!isOwn && (bracket.hasInner || this.#at - bracket.from > MAX_LABEL)) return undefined;
    const name = labelOf(isOwn ? label : this.#text.slice(bracket.from, this.#at));
    const address = name === '' ? undefined : this.#lookUp(name);
    return address === undefined ? undefined : { address, length };
  }

  /** Takes what was read since a bracket, and the bracket, out again. */
  #since(bracket: Bracket): Inline[] {
    const inside = withEmphasis(this.#settled(this.#items.splice(bracket.item + 1)), { isOpen: false });
    this.#items.pop();
    return inside;
  }

  /** What turned out to begin nothing is text; one that may still begin a link is not shown. */
  #settled(items: readonly (Inline | Marks | Bracket)[]): (Inline | Marks)[] {
    const last = this.#isOpen ? this.#brackets.at(-1) : undefined;
    return items.flatMap((item): (Inline | Marks)[] => {
      if (item.type !== 'bracket') return [item];
      if (item === last && !item.isInWord) return [];
      return [{ type: 'text', text: item.isPicture ? '![' : '[' }];
    });
  }

  #put(inlines: readonly Inline[]): void {
    for (const inline of inlines) this.#items.push(inline);
  }

  #take(length: number): number {
    this.#say(this.#text.slice(this.#at, this.#at + length));
    return length;
  }

  #say(text: string): void {
    if (text !== '') this.#items.push({ type: 'text', text });
  }
}

/** One item, whatever is in it: pictures may be within each other, and what is inside is not read again for each. */
function picture(
  alt: string,
  { address, href }: { readonly address: string; readonly href: string | undefined },
): Inline {
  if (href !== undefined) return { type: 'picture', href, alt };
  return { type: 'text', text: alt === '' || alt === address ? address : `${alt} (${address})` };
}

/** Whether words are the address itself. */
const namedBy = (address: string, [first, ...more]: readonly Inline[]) =>
  more.length === 0 && first?.type === 'text' && first.text === address;

const addressBehind = (address: string): Inline => ({ type: 'text', text: ` (${address})` });
