import type { DraftStep } from '../draft.ts';
import { ModelFailure, type UsageUpdate } from '../request.ts';

/** Decodes the events of one model response into steps. */
export interface StreamDecoder {
  readonly decode: (data: string) => Iterable<DraftStep | UsageUpdate>;
  /** Whether the response is complete. */
  readonly isDone: boolean;
}

/** Decodes a stream to its end. Failures after a complete response do not matter. */
export async function* decodeToEnd(events: AsyncIterable<{ readonly data: string }>, decoder: StreamDecoder) {
  try {
    for await (const { data } of events) for (const step of decoder.decode(data)) yield step;
  } catch (error) {
    if (!decoder.isDone) throw error;
  }
  if (!decoder.isDone) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
}

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
