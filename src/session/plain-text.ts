const ESCAPE = '\u001B';

/** What ends a sequence that carries text, such as the title of a window. */
const BELL = '\u0007';

/** What looks like a longer one is text. */
const LONGEST = 4096;

/** The sequences of ECMA-48: their beginnings, and what completes each. */
const KINDS = [
  { begun: `(?:${ESCAPE}\\[|\u009B)[0-?]{0,${LONGEST}}[ -/]{0,${LONGEST}}`, completed: '[@-~]' },
  {
    begun: `${ESCAPE}[\\]PX^_][^${ESCAPE}${BELL}\u009C]{0,${LONGEST}}`,
    completed: `(?:${BELL}|\u009C|${ESCAPE}\\\\)`,
    half: `${ESCAPE}?`,
  },
  { begun: `${ESCAPE}[ -/]{1,${LONGEST}}`, completed: '[0-~]' },
  { begun: ESCAPE, completed: '[0-Z\\\\`-~]' },
];

const SEQUENCE = new RegExp(KINDS.map(({ begun, completed }) => begun + completed).join('|'), 'g');

/** The beginning of a sequence whose rest may be in the next piece. */
const UNFINISHED = new RegExp(`(?:${KINDS.map(({ begun, half = '' }) => begun + half).join('|')})$`);

/** Printed text without what only a terminal understands. Pieces may be cut anywhere. */
export class PlainText {
  #held = '';

  take(piece: string): string {
    const text = this.#held + piece;
    const start = UNFINISHED.exec(text)?.index ?? text.length;
    this.#held = text.slice(start);
    return plain(text.slice(0, start));
  }

  /** What was held back for a rest that never came. */
  end(): string {
    const rest = plain(this.#held);
    this.#held = '';
    return rest;
  }
}

/** Without colours, cursor movements, other control characters but tabs and line feeds, and interlinear marks. */
export const plain = (text: string): string =>
  text.replaceAll(SEQUENCE, '').replaceAll(/(?![\t\n])\p{Cc}|[\uFFF9-\uFFFB]/gu, '');
