/** The overlap with earlier text, and the maximum length of one piece. */
export const WINDOW_CHARACTERS = 2048;

/** A part of a text. A match begins at `from` or later; the text before it is for lookbehind. */
export interface TextView {
  readonly text: string;
  readonly from: number;
}

/** The end of a growing text. */
export class TextWindow {
  #text = '';
  #isCut = false;

  /** The views to search after new text. */
  *add(more: string): Generator<TextView> {
    for (let at = 0; at < more.length; at += WINDOW_CHARACTERS) {
      this.#text += more.slice(at, at + WINDOW_CHARACTERS);
      yield { text: this.#text, from: this.#isCut ? 1 : 0 };
      if (this.#text.length <= WINDOW_CHARACTERS) continue;
      // Keeps one more character than the window, so that `^` and `\b` see the character before it.
      this.#text = this.#text.slice(-WINDOW_CHARACTERS - 1);
      this.#isCut = true;
    }
  }
}
