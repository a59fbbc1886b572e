import type { RunError } from '../../../protocol/generated/vocabulary.ts';
import { ModelFailure } from '../../request.ts';

// Finish reasons of several servers that report a failure.
const failureCodes: Readonly<Record<string, RunError>> = {
  content_filter: 'model_error',
  sensitive: 'model_error',
  error: 'model_error',
  network_error: 'connection_lost',
  insufficient_system_resource: 'overloaded',
  model_context_window_exceeded: 'context_overflow',
};

/** The failure that a finish reason reports; undefined for a normal end. */
export function finishFailure(reason: string): ModelFailure | undefined {
  const code = Object.hasOwn(failureCodes, reason) ? failureCodes[reason] : undefined;
  return code && new ModelFailure(code, `The provider broke the answer off: ${reason}`);
}
