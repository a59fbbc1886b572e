import type { EventSourceMessage } from 'eventsource-parser';
import { classifyFailure } from '../../classify-failure.ts';
import { errorText } from '../../http/error-response.ts';
import { parseEventData } from '../event-data.ts';

/** One event of the stream. Nothing in it is sure to be there, or to be of its kind. */
export interface CompletionsChunk {
  readonly id?: unknown;
  readonly model?: unknown;
  readonly choices?: readonly (ChunkChoice | null)[] | null;
  readonly usage?: unknown;
}

interface ChunkChoice {
  readonly delta?: ChunkDelta | null;
  /** In place of the delta, where a server says everything at once. */
  readonly message?: ChunkDelta | null;
  readonly finish_reason?: unknown;
  readonly usage?: unknown;
}

export type ChunkDelta = Readonly<Record<string, unknown>>;

/** What an event says. Throws where that is an error, or nothing that can be read. */
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

/** Gateways put the status they would have answered with into the error. */
function statusOf(value: object): number | undefined {
  const error = 'error' in value && typeof value.error === 'object' && value.error !== null ? value.error : value;
  const code = 'code' in error ? Number(error.code) : Number.NaN;
  return code >= 400 && code < 600 ? code : undefined;
}
