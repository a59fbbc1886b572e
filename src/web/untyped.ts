/** An unvalidated JSON object: session files can come from any program. */
export type Untyped = Readonly<Record<string, unknown>>;

export const asObject = (value: unknown): Untyped =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Untyped) : {};

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

export const asNumber = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

export const asObjects = (value: unknown): readonly Untyped[] => (Array.isArray(value) ? value.map(asObject) : []);

/** Looks up an own property only, since `name` may be `constructor`. */
export const ownProperty = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** The blocks of a message, whose content may also be a string. */
export const contentBlocks = (content: unknown): readonly Untyped[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : asObjects(content);

export const contentText = (content: unknown): string =>
  contentBlocks(content)
    .map(({ text }) => asText(text))
    .filter((text) => text !== '')
    .join('\n');

export function prettyJson(value: unknown): string {
  try {
    return JSON.stringify(value, undefined, 2) ?? '';
  } catch {
    return '(nested too deeply to be shown)';
  }
}
