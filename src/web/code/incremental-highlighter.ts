import type { CodeToken, Highlighter, HighlightResult } from './token.ts';

// Code beyond this stays in one colour.
const MAX_HIGHLIGHTED_CHARACTERS = 30_000;
// Longer lines are generated code, and grammars are slow with them.
const MAX_HIGHLIGHTED_LINE = 1000;
const PIECE_CHARACTERS = 2000;

/** Highlights code that grows. A piece ends where the grammar is at its top level and is tokenised once, so the work is linear.
 * Piece boundaries do not depend on how the code arrived. A slow piece ends highlighting: some grammars are quadratic. */
export class IncrementalHighlighter {
  readonly #highlight: Highlighter | undefined;
  readonly #language: string;
  #text = '';
  #pieces: (readonly CodeToken[])[] = [];
  /** The start and minimum length of the unfinished piece. */
  #pieceStart = 0;
  #minPieceLength = PIECE_CHARACTERS;
  /** The highlighted lines of the unfinished piece. */
  #highlightedLines: { readonly length: number; readonly tokens: readonly CodeToken[] } | undefined;
  #isEnabled: boolean;

  constructor(language: string, highlight: Highlighter | undefined) {
    this.#language = language;
    this.#highlight = highlight;
    this.#isEnabled = highlight !== undefined;
  }

  /** Returns the pieces of a text; finished pieces keep their identity. */
  read(text: string, { isOpen }: { readonly isOpen: boolean }): readonly (readonly CodeToken[])[] {
    if (!text.startsWith(this.#text)) this.#reset();
    this.#text = text;
    for (let end = this.#pieceEnd(); end !== undefined; end = this.#pieceEnd()) this.#finishPiece(end);
    const rest = text.slice(this.#pieceStart);
    if (rest === '') return this.#pieces;
    return [...this.#pieces, isOpen ? this.#tokensOfOpenPiece(rest) : this.#tokenize(rest).tokens];
  }

  #reset(): void {
    this.#pieces = [];
    this.#pieceStart = 0;
    this.#minPieceLength = PIECE_CHARACTERS;
    this.#highlightedLines = undefined;
    this.#isEnabled = this.#highlight !== undefined;
  }

  #pieceEnd(): number | undefined {
    const end = this.#text.indexOf('\n', this.#pieceStart + this.#minPieceLength - 1) + 1;
    return end > 0 ? end : undefined;
  }

  #finishPiece(end: number): void {
    if (end > MAX_HIGHLIGHTED_CHARACTERS) this.#isEnabled = false;
    const { tokens, endsAtTopLevel: isAtRest } = this.#tokenize(this.#text.slice(this.#pieceStart, end));
    if (!isAtRest) {
      this.#minPieceLength *= 2;
      return;
    }
    this.#pieces.push(tokens);
    this.#pieceStart = end;
    this.#minPieceLength = PIECE_CHARACTERS;
    this.#highlightedLines = undefined;
  }

  /** Highlights complete lines, again only after enough new ones. */
  #tokensOfOpenPiece(rest: string): readonly CodeToken[] {
    const length = rest.lastIndexOf('\n') + 1;
    const previousLength = this.#highlightedLines?.length ?? 0;
    if (length > previousLength + (length > 2 * PIECE_CHARACTERS ? previousLength / 8 : 0)) {
      this.#highlightedLines = { length, tokens: this.#tokenize(rest.slice(0, length)).tokens };
    }
    const { tokens = [], length: highlighted = 0 } = this.#highlightedLines ?? {};
    return [...tokens, { text: rest.slice(highlighted), colour: undefined }];
  }

  #tokenize(text: string): HighlightResult {
    const plain = { tokens: [{ text, colour: undefined }], endsAtTopLevel: true, isSlow: false };
    if (!this.#isEnabled || text.length > MAX_HIGHLIGHTED_CHARACTERS || hasLongLine(text)) return plain;
    const result = this.#highlight?.(text, this.#language);
    if (!result || result.isSlow) this.#isEnabled = false;
    return result ?? plain;
  }
}

const hasLongLine = (text: string) => text.split('\n').some((line) => line.length > MAX_HIGHLIGHTED_LINE);
