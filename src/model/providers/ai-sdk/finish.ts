import type { StopReason } from '../../../protocol/generated/vocabulary.ts';
import { ModelFailure } from '../../request.ts';
import type { SdkStreamPart } from './language-model.ts';

type FinishReason = Extract<SdkStreamPart, { type: 'finish' }>['finishReason'];

interface FinishOutcome {
  readonly stopReason: StopReason;
  // The provider's reason, or else that of the AI SDK.
  readonly raw: string | undefined;
  readonly failure?: ModelFailure;
}

/** The stop reason or failure of a finished response. */
export function finishOutcome(reason: FinishReason): FinishOutcome {
  const { unified, raw } = typeof reason === 'string' ? { unified: reason, raw: undefined } : reason;
  const reasonName = raw ?? unified;
  switch (unified) {
    case 'length':
      return { stopReason: 'length', raw: reasonName };
    case 'tool-calls':
      return { stopReason: 'toolUse', raw: reasonName };
    case 'content-filter':
      return failed(reasonName, new ModelFailure('model_error', `The provider withheld the answer (${reasonName})`));
    case 'error':
      return failed(reasonName, new ModelFailure('model_error', `The model stopped with an error (${reasonName})`));
    case 'stop':
      return { stopReason: 'stop', raw: reasonName };
    default:
      if (raw !== undefined || reason === 'other') return { stopReason: 'stop', raw: reasonName };
      // The server gave no reason, as in a truncated stream.
      return failed(undefined, new ModelFailure('connection_lost', 'The stream ended before the answer did'));
  }
}

const failed = (raw: string | undefined, failure: ModelFailure): FinishOutcome => ({ stopReason: 'error', raw, failure });
