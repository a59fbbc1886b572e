const TAB_WIDTH = 4;

/** A cursor in a line that counts columns; a tab may be consumed in part. */
export class LineCursor {
  readonly #text: string;
  #at = 0;
  #column = 0;
  #isInTab = false;
  #knownStart: { readonly at: number; readonly column: number } | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Blank columns before the next text. */
  get indent(): number {
    return this.#contentStart().column - this.#column;
  }

  get isBlank(): boolean {
    return this.#contentStart().at === this.#text.length;
  }

  get content(): string {
    return this.#text.slice(this.#contentStart().at);
  }

  get rest(): string {
    if (!this.#isInTab) return this.#text.slice(this.#at);
    return ' '.repeat(TAB_WIDTH - (this.#column % TAB_WIDTH)) + this.#text.slice(this.#at + 1);
  }

  /** Moves past so many characters of the next text. */
  skipContent(length: number): void {
    const { at, column } = this.#contentStart();
    this.#at = at + length;
    this.#column = column + length;
    this.#isInTab = false;
    this.#knownStart = undefined;
  }

  /** Moves past at most so many blank columns. */
  skipBlank(columns: number): void {
    this.#knownStart = undefined;
    for (let left = columns; left > 0 && this.#isBlankAt(this.#at); ) {
      const width = widthOf(this.#text[this.#at], this.#column);
      const taken = Math.min(width, left);
      this.#isInTab = taken < width;
      if (!this.#isInTab) this.#at++;
      this.#column += taken;
      left -= taken;
    }
  }

  #contentStart(): { readonly at: number; readonly column: number } {
    if (this.#knownStart) return this.#knownStart;
    let at = this.#at;
    let column = this.#column;
    for (; this.#isBlankAt(at); at++) column += widthOf(this.#text[at], column);
    this.#knownStart = { at, column };
    return this.#knownStart;
  }

  #isBlankAt(at: number): boolean {
    const character = this.#text[at];
    return character === ' ' || character === '\t';
  }
}

const widthOf = (character: string | undefined, column: number) =>
  character === '\t' ? TAB_WIDTH - (column % TAB_WIDTH) : 1;
