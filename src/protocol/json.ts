/** A parsed JSON object of unknown content. */
export type JsonObject = Record<string, unknown>;

/** Whether a parsed JSON value is an object; arrays are not. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
