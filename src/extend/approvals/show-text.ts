/** Longer texts are cut: a dialog cannot hold them. */
export const MAX_SHOWN_CHARACTERS = 8000;

// Controls, invisible signs, signs that change the direction of text, and spaces that are none.
const HIDDEN = /(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** A text as a question shows it. */
export interface ShownText {
  readonly text: string;
  readonly isCut: boolean;
}

/** A path or name with everything escaped that could be overlooked. */
export const showName = (name: string): ShownText => cut(name.replaceAll(HIDDEN, escaped));

/** The same for a command, which keeps its lines. */
export const showCommand = (command: string): ShownText =>
  cut(command.replaceAll(HIDDEN, (sign) => (sign === '\n' ? sign : escaped(sign))));

function escaped(sign: string): string {
  const short = Object.hasOwn(shortEscapes, sign) ? shortEscapes[sign] : undefined;
  return short ?? `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;
}

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' };

function cut(text: string): ShownText {
  if (text.length <= MAX_SHOWN_CHARACTERS) return { text, isCut: false };
  const start = text.slice(0, MAX_SHOWN_CHARACTERS).replace(/[\ud800-\udbff]$/, '');
  return { text: `${start}… (${text.length} characters)`, isCut: true };
}
