import type { Highlight, Highlighted, Token } from './token.ts';

/** Longer code is in one colour from there on. */
const MAX_LENGTH = 30_000;
/** Code that has such lines was not written by hand, and grammars are slow with them. */
const MAX_LINE = 1000;
const PIECE = 2000;

/**
 * Code that may grow, in pieces. A piece ends with a line after which the grammar has nothing open; it is read once, so
 * that the work is in proportion to the length. Where the pieces end does not depend on how the code came in. After one
 * that was slow there are no more colours: some grammars need time in proportion to the square of what they read.
 */
export class GrowingCode {
  readonly #highlight: Highlight | undefined;
  readonly #language: string;
  #text = '';
  #pieces: (readonly Token[])[] = [];
  /** Where the piece begins that is not whole yet, and how long it is to be. */
  #from = 0;
  #size = PIECE;
  /** The lines of that piece that were coloured last. */
  #lines: { readonly length: number; readonly tokens: readonly Token[] } | undefined;
  #hasColours: boolean;

  constructor(language: string, highlight: Highlight | undefined) {
    this.#language = language;
    this.#highlight = highlight;
    this.#hasColours = highlight !== undefined;
  }

  /** The pieces of a text. Those that are whole are the same objects every time. */
  read(text: string, { isOpen }: { readonly isOpen: boolean }): readonly (readonly Token[])[] {
    if (!text.startsWith(this.#text)) this.#forget();
    this.#text = text;
    for (let end = this.#pieceEnd(); end !== undefined; end = this.#pieceEnd()) this.#close(end);
    const rest = text.slice(this.#from);
    if (rest === '') return this.#pieces;
    return [...this.#pieces, isOpen ? this.#sparingly(rest) : this.#colour(rest).tokens];
  }

  #forget(): void {
    this.#pieces = [];
    this.#from = 0;
    this.#size = PIECE;
    this.#lines = undefined;
    this.#hasColours = this.#highlight !== undefined;
  }

  #pieceEnd(): number | undefined {
    const end = this.#text.indexOf('\n', this.#from + this.#size - 1) + 1;
    return end > 0 ? end : undefined;
  }

  #close(end: number): void {
    if (end > MAX_LENGTH) this.#hasColours = false;
    const { tokens, isAtRest } = this.#colour(this.#text.slice(this.#from, end));
    if (!isAtRest) {
      this.#size *= 2;
      return;
    }
    this.#pieces.push(tokens);
    this.#from = end;
    this.#size = PIECE;
    this.#lines = undefined;
  }

  /** Colours of whole lines, anew only when enough of them have come. */
  #sparingly(rest: string): readonly Token[] {
    const length = rest.lastIndexOf('\n') + 1;
    const before = this.#lines?.length ?? 0;
    if (length > before + (length > 2 * PIECE ? before / 8 : 0)) {
      this.#lines = { length, tokens: this.#colour(rest.slice(0, length)).tokens };
    }
    const { tokens = [], length: coloured = 0 } = this.#lines ?? {};
    return [...tokens, { text: rest.slice(coloured), colour: undefined }];
  }

  #colour(text: string): Highlighted {
    const plain = { tokens: [{ text, colour: undefined }], isAtRest: true, isSlow: false };
    if (!this.#hasColours || text.length > MAX_LENGTH || hasLongLine(text)) return plain;
    const found = this.#highlight?.(text, this.#language);
    if (!found || found.isSlow) this.#hasColours = false;
    return found ?? plain;
  }
}

const hasLongLine = (text: string) => text.split('\n').some((line) => line.length > MAX_LINE);
