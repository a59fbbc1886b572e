import type { EventSourceMessage } from 'eventsource-parser';
import { failureOf } from '../../failure.ts';
import { errorText } from '../../http/failure.ts';
import { eventData } from '../event-data.ts';

/** One event of the stream. Nothing in it is sure to be there, or to be of its kind. */
export interface Chunk {
  readonly id?: unknown;
  readonly model?: unknown;
  readonly choices?: readonly (Choice | null)[] | null;
  readonly usage?: unknown;
}

interface Choice {
  readonly delta?: Delta | null;
  /** In place of the delta, where a server says everything at once. */
  readonly message?: Delta | null;
  readonly finish_reason?: unknown;
  readonly usage?: unknown;
}

export type Delta = Readonly<Record<string, unknown>>;

/** What an event says. Throws where that is an error, or nothing that can be read. */
export function chunkIn({ event, data }: EventSourceMessage): Chunk {
  const value = eventData<Chunk & { error?: unknown; object?: unknown }>(data);
  if (event === 'error' || isError(value)) {
    const status = statusOf(value);
    throw failureOf({ message: errorText(value) ?? data, ...(status !== undefined && { status }) });
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
