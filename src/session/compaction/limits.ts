import type { Model } from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';

const RESERVE_TOKENS = 16_384;
const KEEP_RECENT_TOKENS = 20_000;

/** How much of a context is left free, and how much of the latest is kept word for word. */
export interface ContextLimits {
  readonly reserveTokens: number;
  readonly keepRecentTokens: number;
}

/** Characters that surely are no more than a token. */
const CHARACTERS_PER_TOKEN = 3;

/** How long a text may be that a model is to sum up, so that the summary fits beside it. */
export const maxRecordLength = ({ contextWindow }: Model, { reserveTokens }: ContextLimits): number =>
  Math.max(1000, (contextWindow - 2 * reserveTokens) * CHARACTERS_PER_TOKEN);

/** The usual limits are for large models; a small one leaves free a quarter, and keeps at most half of the rest. */
export function limitsFor(
  { contextWindow }: Model,
  { reserveTokens, keepRecentTokens }: Settings['compaction'] = {},
): ContextLimits {
  const reserve = Math.min(reserveTokens ?? RESERVE_TOKENS, Math.floor(contextWindow / 4));
  const keep = Math.min(keepRecentTokens ?? KEEP_RECENT_TOKENS, Math.floor((contextWindow - reserve) / 2));
  return { reserveTokens: reserve, keepRecentTokens: keep };
}
