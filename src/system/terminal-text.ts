// Escapes and other controls move the cursor, change the title or hide text; direction controls reorder what is read.
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

/** Removes every character that controls a terminal or the direction of its text, except line ends and tabs. */
export const terminalText = (text: string): string => text.replaceAll(UNSAFE, '');

// Characters without a sign of their own, and spaces that look like a plain one.
const INVISIBLE = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Writes every such character, and every invisible one, as `\u{…}`: the text of a question hides nothing. */
export const visibleText = (text: string): string =>
  text.replaceAll(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** Escapes these characters in JSON, which keeps its meaning. */
export const terminalJson = (json: string): string =>
  json.replaceAll(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Prints a line of tau itself to stderr. */
export const warn = (text: string): void => void process.stderr.write(`tau: ${terminalText(text)}\n`);
