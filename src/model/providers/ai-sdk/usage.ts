import type { UsageCounts } from '../../priced-usage.ts';
import type { SdkStreamPart } from './language-model.ts';

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
