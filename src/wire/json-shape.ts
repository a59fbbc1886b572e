/** A deeper text is refused: JSON.stringify could not serialise it again. */
export const MAX_JSON_DEPTH = 1000;

/** Each value costs far more memory and time than the two bytes of its text. */
export const MAX_JSON_VALUES = 100_000;

// Shorter texts cost little, whatever their shape.
const MIN_CHECKED_CHARACTERS = 512 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Returns why a JSON text is too deep or too large to parse, without parsing it. */
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

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
