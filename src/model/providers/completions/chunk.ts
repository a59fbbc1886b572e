import type { EventSourceMessage } from 'eventsource-parser';
import { classifyFailure } from '../../classify-failure.ts';
import { errorText } from '../../http/error-response.ts';
import { parseEventData } from '../stream-decoder.ts';

/** A stream event. Any field may be missing or have another type. */
export interface CompletionsChunk {
  readonly id?: unknown;
  readonly model?: unknown;
  readonly choices?: readonly (ChunkChoice | null)[] | null;
  readonly usage?: unknown;
}

interface ChunkChoice {
  readonly delta?: ChunkDelta | null;
  /** Replaces the delta where a server sends the whole message at once. */
  readonly message?: ChunkDelta | null;
  readonly finish_reason?: unknown;
  readonly usage?: unknown;
}

export type ChunkDelta = Readonly<Record<string, unknown>>;

/** Parses an event. Throws if it is an error or malformed. */
export function parseChunk({ event, data }: EventSourceMessage): CompletionsChunk {
  const value = parseEventData<CompletionsChunk & { error?: unknown; object?: unknown }>(data);
  if (event === 'error' || isError(value)) {
    const status = statusOf(value);
    throw classifyFailure({ message: errorText(value) ?? data, ...(status !== undefined && { status }) });
  }
  return value;
}

const isError = ({ error, object }: { error?: unknown; object?: unknown }) =>
  (error !== undefined && error !== null) || object === 'error';

// Gateways put the HTTP status into the error.
function statusOf(value: object): number | undefined {
  const error = 'error' in value && typeof value.error === 'object' && value.error !== null ? value.error : value;
  const code = 'code' in error ? Number(error.code) : Number.NaN;
  return code >= 400 && code < 600 ? code : undefined;
}
