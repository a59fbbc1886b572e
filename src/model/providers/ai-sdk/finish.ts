import type { StopReason } from '../../../protocol/generated/vocabulary.ts';
import { ModelFailure } from '../../request.ts';
import type { Part } from './language-model.ts';

type FinishReason = Extract<Part, { type: 'finish' }>['finishReason'];

interface End {
  readonly stopReason: StopReason;
  /** In the words of the provider, or of the AI SDK where those are not known. */
  readonly raw: string | undefined;
  readonly failure?: ModelFailure;
}

/** How an answer ended. */
export function endOf(reason: FinishReason): End {
  const { unified, raw } = typeof reason === 'string' ? { unified: reason, raw: undefined } : reason;
  const named = raw ?? unified;
  switch (unified) {
    case 'length':
      return { stopReason: 'length', raw: named };
    case 'tool-calls':
      return { stopReason: 'toolUse', raw: named };
    case 'content-filter':
      return failed(named, new ModelFailure('model_error', `The provider withheld the answer (${named})`));
    case 'error':
      return failed(named, new ModelFailure('model_error', `The model stopped with an error (${named})`));
    case 'stop':
      return { stopReason: 'stop', raw: named };
    default:
      if (raw !== undefined || reason === 'other') return { stopReason: 'stop', raw: named };
      // The server gave no reason at all, as when its stream was cut short.
      return failed(undefined, new ModelFailure('connection_lost', 'The stream ended before the answer did'));
  }
}

const failed = (raw: string | undefined, failure: ModelFailure): End => ({ stopReason: 'error', raw, failure });
