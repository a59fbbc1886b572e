import type { Model } from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';

const RESERVE_TOKENS = 16_384;
const KEEP_RECENT_TOKENS = 20_000;

/** Tokens left free in a context, and tokens of recent messages that are kept. */
export interface ContextLimits {
  readonly reserveTokens: number;
  readonly keepRecentTokens: number;
}

// A summary that replaces less costs more than it saves.
const MIN_REPLACED_SHARE = 1 / 8;

/** Tokens of messages that a repeated automatic compaction must replace. */
export const minReplacedTokens = ({ contextWindow }: Model): number => Math.floor(contextWindow * MIN_REPLACED_SHARE);

/** Size of the context above which an automatic compaction is due. */
export const thresholdOf = (model: Model, { compaction }: Settings): number =>
  model.contextWindow - limitsFor(model, compaction).reserveTokens;

// A conservative guess, so that a record surely fits.
const CHARACTERS_PER_TOKEN = 3;

/** Longest record that leaves room for its summary in the context. */
export const maxRecordLength = ({ contextWindow }: Model, { reserveTokens }: ContextLimits): number =>
  Math.max(1000, (contextWindow - 2 * reserveTokens) * CHARACTERS_PER_TOKEN);

/** Small models reserve at most a quarter of the window and keep at most half of the rest. */
export function limitsFor(
  { contextWindow }: Model,
  { reserveTokens, keepRecentTokens }: Settings['compaction'] = {},
): ContextLimits {
  const reserve = Math.min(reserveTokens ?? RESERVE_TOKENS, Math.floor(contextWindow / 4));
  const keep = Math.min(keepRecentTokens ?? KEEP_RECENT_TOKENS, Math.floor((contextWindow - reserve) / 2));
  return { reserveTokens: reserve, keepRecentTokens: keep };
}
