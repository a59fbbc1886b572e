/** Removes quotes, backticks or a code fence around the whole text. */
export function unquoted(text: string): string {
  const trimmed = text.trim();
  const fenced = /^```[^\n`]*\n([\s\S]*?)\n?```$/.exec(trimmed)?.[1];
  if (fenced !== undefined) return fenced;
  const inside = enclosed
    .exec(trimmed)
    ?.slice(1)
    .find((group) => group !== undefined);
  return inside ?? trimmed;
}

const enclosed = /^(?:`([^`]+)`|"([^"]+)"|'([^']+)'|“([^”]+)”|‘([^’]+)’)$/;

/** Removes final punctuation unless it may be part of a path: `run ls .` keeps its point. */
export const unpunctuated = (text: string): string =>
  text
    .trim()
    .replace(/,?\splease[.!?]*$/i, '')
    .replace(/(?<=[\p{L}\p{N}_`"'’”)])[.,;!?]+$/u, '');

/** Removes final punctuation and quotes. */
export const bare = (text: string): string => unquoted(unpunctuated(text));

/** The beginning of a text, never cut inside a character. */
export function clipped(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The beginning of a text, on one line. */
export const excerpt = (text: string, length: number): string =>
  clipped(
    text
      .slice(0, 4 * length)
      .trim()
      .replace(/\s+/g, ' '),
    length,
  );

/** `1 line`, `2 lines`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A name as one word of a shell command. */
export const shellWord = (name: string): string =>
  /^[\w./~@%+=:,-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;

const MOST_TO_COUNT = 100_000;

export function countTo(end: number): string {
  if (end < 1 || end > MOST_TO_COUNT) return `I can count to any number from 1 to ${MOST_TO_COUNT}.`;
  return Array.from({ length: end }, (_, index) => index + 1).join(' ');
}
