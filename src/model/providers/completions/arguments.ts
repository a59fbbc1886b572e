/** Tool call arguments that arrive as pieces of JSON. Scans each character once. */
export class StreamedArguments {
  readonly pieces: string[] = [];
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isWhole = false;

  /** Whether the JSON object is closed. */
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
