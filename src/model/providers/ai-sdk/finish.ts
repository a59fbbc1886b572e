import type { StopReason } from '../../../protocol/generated/vocabulary.ts';
import type { UsageCounts } from '../../priced-usage.ts';
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
    case 'interrupted':
      return failed(raw, new ModelFailure('connection_lost', 'The stream ended before the answer did'));
    default:
      if (raw !== undefined || reason === 'other') return { stopReason: 'stop', raw: reasonName };
      // The server gave no reason, as in a truncated stream.
      return failed(undefined, new ModelFailure('connection_lost', 'The stream ended before the answer did'));
  }
}

const failed = (raw: string | undefined, failure: ModelFailure): FinishOutcome => ({
  stopReason: 'error',
  raw,
  failure,
});

type SdkUsage = Extract<SdkStreamPart, { type: 'finish' }>['usage'];
type UsageV2 = Extract<SdkUsage, { totalTokens: unknown }>;
type UsageV3 = Exclude<SdkUsage, UsageV2>;

/** The token counts of a response. Packages omit what their servers do not report. */
export function countsOf(usage: SdkUsage): UsageCounts {
  return typeof usage.inputTokens === 'object' && typeof usage.outputTokens === 'object'
    ? countsV3(usage.inputTokens, usage.outputTokens)
    : countsV2(usage as UsageV2);
}

function countsV3(input: UsageV3['inputTokens'], output: UsageV3['outputTokens']): UsageCounts {
  const { cacheRead = 0, cacheWrite = 0 } = input;
  return {
    input: input.noCache ?? Math.max(0, (input.total ?? 0) - cacheRead - cacheWrite),
    output: output.total ?? (output.text ?? 0) + (output.reasoning ?? 0),
    cacheRead,
    cacheWrite,
    ...(output.reasoning === undefined ? {} : { reasoning: output.reasoning }),
  };
}

// Version 2: most packages include cached tokens in the input; a count above the input shows that this one does not.
function countsV2({
  inputTokens = 0,
  outputTokens = 0,
  cachedInputTokens: cacheRead = 0,
  reasoningTokens,
}: UsageV2): UsageCounts {
  return {
    input: cacheRead > inputTokens ? inputTokens : inputTokens - cacheRead,
    output: outputTokens,
    cacheRead,
    ...(reasoningTokens === undefined ? {} : { reasoning: reasoningTokens }),
  };
}
