import { stripVTControlCharacters } from 'node:util';

/** The beginning of a sequence for a terminal whose rest may be in the next piece. */
const UNFINISHED = /\u001B(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001B]{0,1000}\u001B?)?$/;

/** Printed text without what only a terminal understands. Pieces may be cut anywhere. */
export class PlainText {
  #held = '';

  take(piece: string): string {
    const text = this.#held + piece;
    const start = UNFINISHED.exec(text)?.index ?? text.length;
    this.#held = text.slice(start);
    return plain(text.slice(0, start));
  }

  end(): string {
    return plain(this.#held);
  }
}

/** Without colours, cursor movements, other control characters but tabs and line feeds, and interlinear marks. */
export const plain = (text: string): string =>
  stripVTControlCharacters(text).replaceAll(/(?![\t\n])\p{Cc}|[\uFFF9-\uFFFB]/gu, '');
