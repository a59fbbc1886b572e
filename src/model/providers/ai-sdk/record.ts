/** A value with what it has by name, functions too; nothing where it is neither object nor function. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? (value as Record<string, unknown>)
    : {};
