import { bytesForTokens } from '../../model/token-estimate.ts';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../../protocol/json.ts';
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

/** Largest context after a compaction that has helped: with less room the next one would be due after a few messages. */
export const helpfulSize = (model: Model, settings: Settings): number =>
  thresholdOf(model, settings) - minReplacedTokens(model);

/** Size of the context above which an automatic compaction is due. */
export const thresholdOf = (model: Model, { compaction }: Settings): number =>
  model.contextWindow - limitsFor(model, compaction).reserveTokens;

// A conservative guess, so that a record surely fits, and the bytes of an estimated token.
const BYTES_PER_TOKEN = 3;
const ESTIMATED_BYTES_PER_TOKEN = bytesForTokens(1);

/** Bytes of the longest record that leaves room for its summary, with `slope` counted tokens for each estimated one. */
export const maxRecordBytes = ({ contextWindow }: Model, { reserveTokens }: ContextLimits, slope: number): number =>
  Math.max(
    1000,
    Math.floor((contextWindow - 2 * reserveTokens) * Math.min(BYTES_PER_TOKEN, ESTIMATED_BYTES_PER_TOKEN / slope)),
  );

/** Small models reserve at most a quarter of the window and keep at most half of the rest. */
export function limitsFor(
  { contextWindow, provider, id }: Model,
  { modelOverrides = {}, ...limits }: Settings['compaction'] = {},
): ContextLimits {
  const own = modelOverrides[`${provider}/${id}`];
  const { reserveTokens, keepRecentTokens } = { ...limits, ...(isObject(own) ? countsIn(own) : {}) };
  const reserve = Math.min(reserveTokens ?? RESERVE_TOKENS, Math.floor(contextWindow / 4));
  const keep = Math.min(keepRecentTokens ?? KEEP_RECENT_TOKENS, Math.floor((contextWindow - reserve) / 2));
  return { reserveTokens: reserve, keepRecentTokens: keep };
}

const countsIn = (values: JsonObject): Partial<ContextLimits> =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => /^(?:reserve|keepRecent)Tokens$/.test(name) && typeof value === 'number' && value >= 0,
    ),
  );
