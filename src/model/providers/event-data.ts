import { ModelFailure } from '../request.ts';

const EXCERPT_LENGTH = 200;

/** Parses the JSON object of an event. The types of its fields are unchecked. */
export function parseEventData<Data extends object>(text: string): Data {
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null) return value as Data;
  const excerpt = text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;
  throw new ModelFailure('model_error', `Expected a JSON object in the stream, got: ${excerpt}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
