const ESCAPE = '\u001B';

/** What ends a sequence that carries text, such as the title of a window. */
const BELL = '\u0007';

/** What looks like a longer one is text. */
const MAX_SEQUENCE_LENGTH = 4096;

/** The sequences of ECMA-48: their beginnings, and what completes each. */
const KINDS = [
  { begun: `(?:${ESCAPE}\\[|\u009B)[0-?]{0,${MAX_SEQUENCE_LENGTH}}[ -/]{0,${MAX_SEQUENCE_LENGTH}}`, completed: '[@-~]' },
  {
    begun: `${ESCAPE}[\\]PX^_][^${ESCAPE}${BELL}\u009C]{0,${MAX_SEQUENCE_LENGTH}}`,
    completed: `(?:${BELL}|\u009C|${ESCAPE}\\\\)`,
    half: `${ESCAPE}?`,
  },
  { begun: `${ESCAPE}[ -/]{1,${MAX_SEQUENCE_LENGTH}}`, completed: '[0-~]' },
  { begun: ESCAPE, completed: '[0-Z\\\\`-~]' },
];

const SEQUENCE = new RegExp(KINDS.map(({ begun: start, completed: end }) => start + end).join('|'), 'g');

/** The beginning of a sequence whose rest may be in the next piece. */
const UNFINISHED = new RegExp(`(?:${KINDS.map(({ begun: start, half = '' }) => start + half).join('|')})$`);

/** Printed text without what only a terminal understands. Pieces may be cut anywhere. */
export class EscapeStripper {
  #pending = '';

  push(piece: string): string {
    const text = this.#pending + piece;
    const start = UNFINISHED.exec(text)?.index ?? text.length;
    this.#pending = text.slice(start);
    return stripEscapes(text.slice(0, start));
  }

  /** What was held back for a rest that never came. */
  end(): string {
    const rest = stripEscapes(this.#pending);
    this.#pending = '';
    return rest;
  }
}

/** Without colours, cursor movements, other control characters but tabs and line feeds, and interlinear marks. */
export const stripEscapes = (text: string): string =>
  text.replaceAll(SEQUENCE, '').replaceAll(/(?![\t\n])\p{Cc}|[\uFFF9-\uFFFB]/gu, '');
