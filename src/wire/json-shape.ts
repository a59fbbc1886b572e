/** A text nested deeper than this is refused: JSON.stringify could not write it back. */
export const MAX_JSON_DEPTH = 1000;

/** Values that one line may hold. Each costs far more memory and time than the two bytes it may be written in. */
export const MAX_JSON_VALUES = 100_000;

/** Shorter texts cost little, whatever they hold. */
const MIN_CHECKED_CHARACTERS = 512 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Why a text is not worth parsing, if it is not: told without making anything of it. */
export function shapeProblem(text: string): string | undefined {
  if (text.length < MIN_CHECKED_CHARACTERS) return undefined;
  let depth = 0;
  let values = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) index = endOfString(text, index);
    else if (unit === COMMA) values++;
    else if (unit === CLOSING_BRACKET || unit === CLOSING_BRACE) depth--;
    else if (unit === OPENING_BRACKET || unit === OPENING_BRACE) {
      values++;
      if (++depth > MAX_JSON_DEPTH) return tooDeepProblem;
    }
    if (values > MAX_JSON_VALUES) return `more than ${MAX_JSON_VALUES} values`;
  }
  return undefined;
}

export const tooDeepProblem = `nested deeper than ${MAX_JSON_DEPTH} levels`;

/** Where the string ends that begins here. Its text is passed over in one step. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
