/** How much of what was said before is looked at again with every piece; no piece is longer than that either. */
export const WINDOW_CHARACTERS = 2048;

/** A part of a text. What stands before `from` is there to be looked back at: a match begins behind it. */
export interface TextView {
  readonly text: string;
  readonly from: number;
}

/** The end of a text that grows. */
export class TextWindow {
  #text = '';
  #isCut = false;

  /** What is to be looked at for each piece of what is new. */
  *add(more: string): Generator<TextView> {
    for (let at = 0; at < more.length; at += WINDOW_CHARACTERS) {
      this.#text += more.slice(at, at + WINDOW_CHARACTERS);
      yield { text: this.#text, from: this.#isCut ? 1 : 0 };
      if (this.#text.length <= WINDOW_CHARACTERS) continue;
      // One more than the window: where a word or a line begins is told by what stands before it.
      this.#text = this.#text.slice(-WINDOW_CHARACTERS - 1);
      this.#isCut = true;
    }
  }
}
