import type { StopReason } from '../../../protocol/generated/vocabulary.ts';
import { ModelFailure } from '../../request.ts';

/** Maps the reason for the end. Throws if it is a failure, with the server's explanation. */
export function stopReasonOf(reason: string, explanation: string | undefined): StopReason {
  switch (reason) {
    case 'max_tokens':
      return 'length';
    case 'tool_use':
      return 'toolUse';
    case 'refusal':
      throw new ModelFailure('model_error', ['The model refused to answer', explanation].filter(Boolean).join(': '));
    case 'model_context_window_exceeded':
      throw new ModelFailure('context_overflow', 'The answer no longer fitted the context window of the model');
    default:
      return 'stop';
  }
}
