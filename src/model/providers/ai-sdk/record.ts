/** The properties of an object or function; none for other values. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? (value as Record<string, unknown>)
    : {};
