import type { RunError } from '../../protocol/generated/vocabulary.ts';
import { ModelFailure } from '../request.ts';
import type { ScriptedError } from './step.ts';

/** The failure for an HTTP status, with the text of a real provider. */
export function refusal({ status, message = phrases[status] ?? 'Error', retryAfterMs }: ScriptedError): ModelFailure {
  const details = retryAfterMs === undefined ? { status } : { status, retryAfterMs };
  return new ModelFailure(codes[status] ?? 'model_error', `${status} ${message}`, details);
}

export const overflow = (): ModelFailure =>
  new ModelFailure('context_overflow', '400 prompt is too long: the context window is exceeded', { status: 400 });

/** The failure of a connection that is lost in mid-stream. */
export const cut = (): ModelFailure => new ModelFailure('connection_lost', 'terminated');

const codes: Readonly<Record<number, RunError>> = {
  401: 'auth_failed',
  402: 'payment_required',
  403: 'auth_failed',
  429: 'rate_limited',
  503: 'overloaded',
  529: 'overloaded',
};

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  402: 'Payment required',
  403: 'Forbidden',
  404: 'Not found',
  429: 'Too many requests',
  500: 'Internal server error',
  502: 'Bad gateway',
  503: 'Service unavailable',
  504: 'Gateway timeout',
  529: 'Overloaded',
};
