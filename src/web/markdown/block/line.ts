const TAB = 4;

/** A line that is read from its beginning. A tab goes on to every fourth column, and may be read in part. */
export class Line {
  readonly #text: string;
  #at = 0;
  #column = 0;
  #isInTab = false;
  #wordAt: { readonly at: number; readonly column: number } | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** How many columns are empty before the next word. */
  get indent(): number {
    return this.#word().column - this.#column;
  }

  get isBlank(): boolean {
    return this.#word().at === this.#text.length;
  }

  /** From the next word on. */
  get words(): string {
    return this.#text.slice(this.#word().at);
  }

  /** Everything that was not read yet. */
  get rest(): string {
    if (!this.#isInTab) return this.#text.slice(this.#at);
    return ' '.repeat(TAB - (this.#column % TAB)) + this.#text.slice(this.#at + 1);
  }

  /** Goes to the next word, and behind as many characters of it. */
  skipWord(length: number): void {
    const { at, column } = this.#word();
    this.#at = at + length;
    this.#column = column + length;
    this.#isInTab = false;
    this.#wordAt = undefined;
  }

  /** Goes on by as many columns, as far as they are empty. */
  skipEmpty(columns: number): void {
    this.#wordAt = undefined;
    for (let left = columns; left > 0 && this.#isEmptyAt(this.#at); ) {
      const width = widthOf(this.#text[this.#at], this.#column);
      const taken = Math.min(width, left);
      this.#isInTab = taken < width;
      if (!this.#isInTab) this.#at++;
      this.#column += taken;
      left -= taken;
    }
  }

  #word(): { readonly at: number; readonly column: number } {
    if (this.#wordAt) return this.#wordAt;
    let at = this.#at;
    let column = this.#column;
    for (; this.#isEmptyAt(at); at++) column += widthOf(this.#text[at], column);
    this.#wordAt = { at, column };
    return this.#wordAt;
  }

  #isEmptyAt(at: number): boolean {
    const character = this.#text[at];
    return character === ' ' || character === '\t';
  }
}

const widthOf = (character: string | undefined, column: number) => (character === '\t' ? TAB - (column % TAB) : 1);
