/** What the index keeps of a line. */
export interface LineFacts {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
  /** The role of a message, the customType of a custom entry. */
  readonly kind: string | undefined;
}

/** Reads the facts of any line that holds an entry. */
export function parseFacts(line: string): LineFacts | undefined {
  return factsOf(parseObject(line) ?? {});
}

/** The facts of an entry, or of an object that may be one. */
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

/** Whether entries of this type are told apart by `customType`. */
export const hasCustomType = (type: string) => type === 'custom' || type === 'custom_message';

const roleOf = (message: unknown) =>
  typeof message === 'object' && message !== null ? (message as { role?: unknown }).role : undefined;

/** The object that a line holds; undefined when it holds anything else. */
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
