/** An object of which nothing is known: sessions are written by many programs, and by hand. */
export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

export const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

/** What a table holds under a name that may be anything, also that of something every object has. */
export const entryOf = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** The blocks of a message, which may also be a plain text. */
export const blocksOf = (content: unknown): readonly Fields[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);

/** The text of a message without its pictures. */
export const wordsOf = (content: unknown): string =>
  blocksOf(content)
    .map(({ text }) => textOf(text))
    .filter((text) => text !== '')
    .join('\n');

/** A value as JSON for people. */
export function prettyJson(value: unknown): string {
  try {
    return JSON.stringify(value, undefined, 2) ?? '';
  } catch {
    return '(nested too deeply to be shown)';
  }
}
