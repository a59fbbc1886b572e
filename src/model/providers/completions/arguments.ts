/** The arguments of a call, which come in pieces of JSON. Looks at each character once, however many pieces there are. */
export class StreamedArguments {
  readonly pieces: string[] = [];
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isWhole = false;

  /** Whether the object that they are has been closed. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  add(piece: string): void {
    this.pieces.push(piece);
    for (const character of piece) this.#scan(character);
  }

  #scan(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString) {
      if (character === '"') this.#isInString = false;
      else if (character === '\\') this.#isEscaped = true;
    } else if (character === '"') this.#isInString = true;
    else if (character === '{') this.#depth += 1;
    else if (character === '}') {
      this.#depth -= 1;
      this.#isWhole = this.#depth === 0;
    }
  }
}
