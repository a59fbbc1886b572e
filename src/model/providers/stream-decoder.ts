import { isObject } from '../../protocol/json.ts';
import { classifyFailure } from '../classify-failure.ts';
import type { DraftStep } from '../draft.ts';
import { errorText } from '../http/error-response.ts';
import { ModelFailure, type UsageUpdate } from '../request.ts';

/** An event of a stream. */
export interface StreamEventData {
  readonly event?: string | undefined;
  readonly data: string;
}

/** Decodes the events of one model response into steps. */
export interface StreamDecoder {
  readonly decode: (event: StreamEventData) => Iterable<DraftStep | UsageUpdate>;
  /** Whether the response is complete. */
  readonly isDone: boolean;
}

/** Decodes a stream to its end. An interruption after a complete response does not matter. */
export async function* decodeToEnd(events: AsyncIterable<StreamEventData>, decoder: StreamDecoder) {
  try {
    for await (const event of events) for (const step of decoder.decode(event)) yield step;
  } catch (error) {
    if (!(decoder.isDone && isInterruption(error))) throw error;
  }
  if (!decoder.isDone) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
}

/** Whether a failure of the connection, and not of the model. */
export const isInterruption = (error: unknown): boolean =>
  error instanceof ModelFailure && (error.code === 'connection_lost' || error.code === 'stalled');

/** The part of a whole text that follows what was sent of it; empty if the text does not begin with that. */
export const textAfter = (sent: string, whole: string): string =>
  whole.startsWith(sent) ? whole.slice(sent.length) : '';

const EXCERPT_LENGTH = 200;

/**
 * Parses the JSON object of an event. The types of its fields are unchecked. Throws the failure that the event reports
 * in its place, in the server's words.
 */
export function parseEventData<Data extends object>({ event, data }: StreamEventData): Data {
  const value = parseJson(data);
  if (event === 'error' || isErrorReport(value)) throw reportedFailure(data, value);
  if (typeof value === 'object' && value !== null) return value as Data;
  throw new ModelFailure('model_error', `Expected a JSON object in the stream, got: ${excerptOf(data)}`);
}

/** The beginning of a text, for an error message. */
export const excerptOf = (text: string): string =>
  text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;

const isErrorReport = (value: unknown) =>
  isObject(value) && (isPresent(value['error']) || value['type'] === 'error' || value['object'] === 'error');

const isPresent = (value: unknown) => value !== undefined && value !== null;

// Gateways and local servers put the HTTP status into the error.
function statusIn(value: unknown): number | undefined {
  const error = isObject(value) && isObject(value['error']) ? value['error'] : value;
  const code = isObject(error) ? Number(error['code']) : Number.NaN;
  return code >= 400 && code < 600 ? code : undefined;
}

function reportedFailure(data: string, value: unknown): ModelFailure {
  const status = statusIn(value);
  return classifyFailure({
    message: errorText(value) ?? (data.trim() || 'The server reported an error without a text'),
    ...(status === undefined ? {} : { status }),
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
