import type { Counts } from '../../price.ts';
import type { Part } from './language-model.ts';

type SdkUsage = Extract<Part, { type: 'finish' }>['usage'];
type Plain = Extract<SdkUsage, { totalTokens: unknown }>;
type Detailed = Exclude<SdkUsage, Plain>;

/** What an answer used. Packages leave out what their servers do not tell. */
export function countsOf(usage: SdkUsage): Counts {
  return typeof usage.inputTokens === 'object' && typeof usage.outputTokens === 'object'
    ? detailed(usage.inputTokens, usage.outputTokens)
    : plain(usage as Plain);
}

function detailed(input: Detailed['inputTokens'], output: Detailed['outputTokens']): Counts {
  const { cacheRead = 0, cacheWrite = 0 } = input;
  return {
    input: input.noCache ?? Math.max(0, (input.total ?? 0) - cacheRead - cacheWrite),
    output: output.total ?? (output.text ?? 0) + (output.reasoning ?? 0),
    cacheRead,
    cacheWrite,
    ...(output.reasoning === undefined ? {} : { reasoning: output.reasoning }),
  };
}

/** Version 2. Most packages count what was cached as input, too; where it is more than the input, this one does not. */
function plain({
  inputTokens = 0,
  outputTokens = 0,
  cachedInputTokens: cacheRead = 0,
  reasoningTokens,
}: Plain): Counts {
  return {
    input: cacheRead > inputTokens ? inputTokens : inputTokens - cacheRead,
    output: outputTokens,
    cacheRead,
    ...(reasoningTokens === undefined ? {} : { reasoning: reasoningTokens }),
  };
}
