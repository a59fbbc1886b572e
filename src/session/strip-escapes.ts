const ESCAPE = '\u001B';

// Ends a sequence that carries text, such as a window title.
const BELL = '\u0007';

// A longer sequence is treated as text.
const MAX_SEQUENCE_LENGTH = 4096;

// The sequences of ECMA-48: their starts and their ends.
const KINDS = [
  { start: `(?:${ESCAPE}\\[|\u009B)[0-?]{0,${MAX_SEQUENCE_LENGTH}}[ -/]{0,${MAX_SEQUENCE_LENGTH}}`, end: '[@-~]' },
  {
    start: `${ESCAPE}[\\]PX^_][^${ESCAPE}${BELL}\u009C]{0,${MAX_SEQUENCE_LENGTH}}`,
    end: `(?:${BELL}|\u009C|${ESCAPE}\\\\)`,
    half: `${ESCAPE}?`,
  },
  { start: `${ESCAPE}[ -/]{1,${MAX_SEQUENCE_LENGTH}}`, end: '[0-~]' },
  { start: ESCAPE, end: '[0-Z\\\\`-~]' },
];

const SEQUENCE = new RegExp(KINDS.map(({ start, end }) => start + end).join('|'), 'g');

// The start of a sequence whose rest may be in the next piece.
const UNFINISHED = new RegExp(`(?:${KINDS.map(({ start, half = '' }) => start + half).join('|')})$`);

/** Removes terminal escape sequences from text that arrives in pieces, cut anywhere. */
export class EscapeStripper {
  readonly #strip: (text: string) => string;
  #pending = '';

  constructor(keepsCarriageReturns = false) {
    this.#strip = keepsCarriageReturns ? stripWithinLines : stripEscapes;
  }

  push(piece: string): string {
    const text = this.#pending + piece;
    const start = UNFINISHED.exec(text)?.index ?? text.length;
    this.#pending = text.slice(start);
    return this.#strip(text.slice(0, start));
  }

  /** Text that was held back for the rest of a sequence. */
  end(): string {
    const rest = this.#strip(this.#pending);
    this.#pending = '';
    return rest;
  }
}

/** Removes escape sequences, control characters other than tab and line feed, and interlinear marks. */
export const stripEscapes = (text: string): string =>
  text.replaceAll(SEQUENCE, '').replaceAll(/(?![\t\n])\p{Cc}|[\uFFF9-\uFFFB]/gu, '');

const stripWithinLines = (text: string): string => text.split('\r').map(stripEscapes).join('\r');

/** Keeps the last state of each line that carriage returns overwrite, as progress bars do. */
export const lastLineStates = (text: string): string =>
  text.includes('\r') ? text.split('\n').map(lastState).join('\n') : text;

function lastState(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end--;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}
