/** The fields of a line that the index keeps. */
export interface LineFacts {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
  /** The role of a message, or the customType of a custom entry. */
  readonly kind: string | undefined;
}

/** Parses a line; undefined if it holds no entry. */
export function parseFacts(line: string): LineFacts | undefined {
  return factsOf(parseObject(line) ?? {});
}

/** The facts of an entry; undefined for another object. */
export function factsOf(value: object): LineFacts | undefined {
  const { type, id, parentId, customType, message } = value as Record<string, unknown>;
  if (typeof type !== 'string' || typeof id !== 'string' || id === '') return undefined;
  const kind = type === 'message' ? roleOf(message) : hasCustomType(type) ? customType : undefined;
  return {
    type,
    id,
    parentId: typeof parentId === 'string' ? parentId : null,
    kind: typeof kind === 'string' ? kind : undefined,
  };
}

/** Whether entries of this type have a `customType`. */
export const hasCustomType = (type: string) => type === 'custom' || type === 'custom_message';

const roleOf = (message: unknown) =>
  typeof message === 'object' && message !== null ? (message as { role?: unknown }).role : undefined;

/** The object in a line; undefined for anything else. */
export function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
