import { normalizeLabel } from '../block/link-definitions.ts';
import { bareAutolinkAt, bracketedAutolinkAt } from './autolinks.ts';
import { CodeSpans } from './code-spans.ts';
import { type DelimiterRun, delimiterRunAt, resolveEmphasis } from './emphasis.ts';
import { entityAt } from './entities.ts';
import { type Inline, inlineText, withoutLinks } from './inline.ts';
import { labelAt, mayBecomeTarget, safeLink, targetAt } from './link-target.ts';

interface InlineOptions {
  // While open, trailing characters that may become a mark are held back.
  readonly isOpen?: boolean | undefined;
  readonly lookUp?: ((label: string) => string | undefined) | undefined;
}

interface Bracket {
  readonly type: 'bracket';
  readonly isPicture: boolean;
  // Index in the items, and start of its text.
  readonly item: number;
  readonly from: number;
  readonly isInWord: boolean;
  hasInner: boolean;
}

const MAX_LINK_LABEL = 999;
const MAX_ALT_CHARACTERS = 200;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const SPECIAL = /[\\`*_~[\]!<&\n]|https?:\/\/|www\./g;
const BREAK = /<br[ \t]{0,9}\/?>/iy;
const UNDECIDED_END = /(?:[*_~`\\]+|!?\[|&#?\w{0,8}|<[a-z/!-]{0,10})$/i;

/** Parses inline markdown in time linear to its length. */
export function parseInline(text: string, options: InlineOptions = {}): Inline[] {
  return new InlineReader(options.isOpen ? decidedPart(text) : text, options).read();
}

/** Drops trailing marks whose meaning is still open. */
function decidedPart(text: string): string {
  const tail = text.slice(-40);
  return text.slice(0, text.length - (UNDECIDED_END.exec(tail)?.[0].length ?? 0));
}

class InlineReader {
  readonly #text: string;
  readonly #isOpen: boolean;
  readonly #lookUp: (label: string) => string | undefined;
  readonly #spans: CodeSpans;
  readonly #items: (Inline | DelimiterRun | Bracket)[] = [];
  readonly #brackets: Bracket[] = [];
  /** Number of brackets that contain a link and cannot become one. */
  #disabledBrackets = 0;
  #mayHaveComments = true;
  #at = 0;

  constructor(text: string, { isOpen = false, lookUp = () => undefined }: InlineOptions) {
    this.#text = text;
    this.#isOpen = isOpen;
    this.#lookUp = lookUp;
    this.#spans = new CodeSpans(text);
  }

  read(): Inline[] {
    while (this.#at < this.#text.length) {
      SPECIAL.lastIndex = this.#at;
      const next = SPECIAL.exec(this.#text)?.index ?? this.#text.length;
      this.#pushText(this.#text.slice(this.#at, next));
      this.#at = next;
      if (next < this.#text.length) this.#at += this.#readSpecial(this.#text[next] ?? '');
    }
    return resolveEmphasis(this.#resolveBrackets(this.#items), { isOpen: this.#isOpen });
  }

  /** Parses a special character. This and the methods below return the number of consumed characters. */
  #readSpecial(character: string): number {
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
        return this.#text[this.#at + 1] === '[' ? this.#openBracket(2) : this.#readAsText(1);
      case '[':
        return this.#openBracket(1);
      case ']':
        return this.#closeBracket();
      case '<':
        return this.#readAngleBracket();
      case 'h':
      case 'w':
        return this.#readBareLink();
      default:
        return this.#readDelimiterRun();
    }
  }

  #escape(): number {
    const next = this.#text[this.#at + 1] ?? '';
    if (next !== '\n' && !PUNCTUATION.test(next)) return this.#readAsText(1);
    this.#items.push(next === '\n' ? { type: 'break' } : { type: 'text', text: next });
    return 2;
  }

  #code(): number {
    const span = this.#spans.at(this.#at);
    if ('text' in span) this.#items.push({ type: 'code', text: span.text });
    else if (!this.#isOpen) this.#pushText(this.#text.slice(this.#at, span.end));
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
      this.#pushText(last.text.trimEnd());
    }
    if (isHard) this.#items.push({ type: 'break' });
    else this.#pushText('\n');
    return 1;
  }

  #entity(): number {
    const entity = entityAt(this.#text, this.#at);
    if (!entity) return this.#readAsText(1);
    this.#pushText(entity.text);
    return entity.length;
  }

  /** A line break, a comment or an autolink; anything else is text. */
  #readAngleBracket(): number {
    BREAK.lastIndex = this.#at;
    const lineBreak = BREAK.exec(this.#text)?.[0];
    if (lineBreak !== undefined) {
      this.#items.push({ type: 'break' });
      return lineBreak.length;
    }
    return this.#comment() || this.#readAutolink(bracketedAutolinkAt(this.#text, this.#at));
  }

  #comment(): number {
    if (!this.#mayHaveComments || !this.#text.startsWith('<!--', this.#at)) return 0;
    const end = this.#text.indexOf('-->', this.#at + 4) + 3;
    this.#mayHaveComments = end > 2;
    if (!this.#mayHaveComments) return 0;
    this.#items.push({ type: 'comment', text: this.#text.slice(this.#at, end) });
    return end - this.#at;
  }

  #readBareLink(): number {
    return this.#readAutolink(bareAutolinkAt(this.#text, this.#at));
  }

  #readAutolink(
    found: { readonly address: string; readonly shown: string; readonly length: number } | undefined,
  ): number {
    const href = found && safeLink(found.address);
    if (!found || href === undefined) return this.#readAsText(1);
    this.#items.push({ type: 'link', href, children: [{ type: 'text', text: found.shown }] });
    return found.length;
  }

  #readDelimiterRun(): number {
    const run = delimiterRunAt(this.#text, this.#at);
    const isUseful = (run.mayOpen || run.mayClose) && (run.character !== '~' || run.length === 2);
    if (!isUseful) return this.#readAsText(run.length);
    this.#items.push(run);
    return run.length;
  }

  #openBracket(length: 1 | 2): number {
    const around = this.#brackets.at(-1);
    if (around) around.hasInner = true;
    this.#disabledBrackets = Math.min(this.#disabledBrackets, this.#brackets.length);
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
    const isDisabled = !bracket?.isPicture && this.#brackets.length < this.#disabledBrackets;
    if (!bracket || isDisabled) return this.#readAsText(1);
    const target = targetAt(this.#text, this.#at + 1) ?? this.#reference(bracket);
    if (target) return this.#linkSince(bracket, target);
    if (!this.#isOpen || bracket.isInWord || !mayBecomeTarget(this.#text, this.#at + 1)) return this.#readAsText(1);
    const inside = this.#popSince(bracket);
    if (!bracket.isPicture) this.#pushAll(inside);
    return this.#text.length - this.#at;
  }

  #linkSince(bracket: Bracket, { address, length }: { readonly address: string; readonly length: number }): number {
    const inside = this.#popSince(bracket);
    const href = safeLink(address);
    if (bracket.isPicture)
      this.#items.push(picture(inlineText(inside).slice(0, MAX_ALT_CHARACTERS), { address, href }));
    else if (href === undefined)
      this.#pushAll(isAddressItself(address, inside) ? inside : [...inside, addressBehind(address)]);
    else this.#items.push({ type: 'link', href, children: withoutLinks(inside) });
    if (!bracket.isPicture) this.#disabledBrackets = this.#brackets.length;
    return length + 1;
  }

  /** Resolves a reference link by its label, or by its text. */
  #reference(bracket: Bracket): { readonly address: string; readonly length: number } | undefined {
    const { label = '', length = 0 } = labelAt(this.#text, this.#at + 1) ?? {};
    const isOwn = label !== '';
    if (!isOwn && (bracket.hasInner || this.#at - bracket.from > MAX_LINK_LABEL)) return undefined;
    const name = normalizeLabel(isOwn ? label : this.#text.slice(bracket.from, this.#at));
    const address = name === '' ? undefined : this.#lookUp(name);
    return address === undefined ? undefined : { address, length };
  }

  /** Removes a bracket and all items after it, and returns these. */
  #popSince(bracket: Bracket): Inline[] {
    const inside = resolveEmphasis(this.#resolveBrackets(this.#items.splice(bracket.item + 1)), { isOpen: false });
    this.#items.pop();
    return inside;
  }

  /** Unmatched brackets become text; one that may still start a link is hidden. */
  #resolveBrackets(items: readonly (Inline | DelimiterRun | Bracket)[]): (Inline | DelimiterRun)[] {
    const last = this.#isOpen ? this.#brackets.at(-1) : undefined;
    return items.flatMap((item): (Inline | DelimiterRun)[] => {
      if (item.type !== 'bracket') return [item];
      if (item === last && !item.isInWord) return [];
      return [{ type: 'text', text: item.isPicture ? '![' : '[' }];
    });
  }

  #pushAll(inlines: readonly Inline[]): void {
    for (const inline of inlines) this.#items.push(inline);
  }

  #readAsText(length: number): number {
    this.#pushText(this.#text.slice(this.#at, this.#at + length));
    return length;
  }

  #pushText(text: string): void {
    if (text !== '') this.#items.push({ type: 'text', text });
  }
}

/** A single item, so that nested pictures are not parsed again. */
function picture(
  alt: string,
  { address, href }: { readonly address: string; readonly href: string | undefined },
): Inline {
  if (href !== undefined) return { type: 'picture', href, alt };
  return { type: 'text', text: alt === '' || alt === address ? address : `${alt} (${address})` };
}

const isAddressItself = (address: string, [first, ...more]: readonly Inline[]) =>
  more.length === 0 && first?.type === 'text' && first.text === address;

const addressBehind = (address: string): Inline => ({ type: 'text', text: ` (${address})` });
