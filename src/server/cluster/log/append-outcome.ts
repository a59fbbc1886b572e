import { JetStreamApiError } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';

/**
 * The meaning of a failed append. `conflict`: another record, or an earlier try of this one, was stored at its position.
 * `unknown`: it may or may not be stored, or the servers cannot store now. `refused`: it is not stored and will not be.
 */
export type AppendFailure = 'conflict' | 'unknown' | 'refused';

const WRONG_LAST_SEQUENCE = 10071;
const IN_FLIGHT = 10164;
const NOT_READY = 10163;
// The store failed: the stream or the device is full.
const STORE_FAILED = 10077;
const UNAVAILABLE = 503;
const TOO_BUSY = 429;

export function appendFailure(error: unknown): AppendFailure {
  if (error instanceof JetStreamApiError) {
    const { code, err_code: reason } = error.apiError();
    if (reason === WRONG_LAST_SEQUENCE || reason === IN_FLIGHT) return 'conflict';
    if (reason === STORE_FAILED) return 'refused';
    return reason === NOT_READY || code === UNAVAILABLE || code === TOO_BUSY ? 'unknown' : 'refused';
  }
  return isUnanswered(error) ? 'unknown' : 'refused';
}

/** The subject that the permissions of this user forbid, if that is why a request failed. */
export function forbiddenSubject(error: unknown): string | undefined {
  const { cause = error } = error as Error;
  return cause instanceof errors.PermissionViolationError ? cause.subject : undefined;
}

/** Whether a request got no response, or the servers have no leader: nothing is known about its effect. */
export const isUnanswered = (error: unknown): boolean =>
  forbiddenSubject(error) === undefined && isConnectionError(error);

const isConnectionError = (error: unknown): boolean =>
  // Not exported by the library; the servers have no leader yet, or JetStream is off.
  (error instanceof Error && error.name === 'JetStreamNotEnabled') ||
  (error instanceof JetStreamApiError && error.apiError().code === UNAVAILABLE) ||
  error instanceof errors.TimeoutError ||
  error instanceof errors.ConnectionError ||
  error instanceof errors.NoRespondersError ||
  error instanceof errors.RequestError ||
  error instanceof errors.ClosedConnectionError ||
  error instanceof errors.DrainingConnectionError;
