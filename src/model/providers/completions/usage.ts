import type { Counts } from '../../price.ts';

/** Tokens as this API counts them, with the names that some servers have for the same. */
interface TokenCounts {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
  readonly prompt_cache_hit_tokens?: number;
  readonly cached_tokens?: number;
  readonly cache_creation_input_tokens?: number;
}

/** What the server counted; undefined where it counted nothing. */
export function countsIn(usage: unknown): Counts | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const told = usage as TokenCounts;
  const read = told.prompt_tokens_details;
  const prompt = count(told.prompt_tokens);
  const completion = count(told.completion_tokens);
  if (prompt + completion === 0) return undefined;
  const cacheRead = count(read?.cached_tokens ?? told.prompt_cache_hit_tokens ?? told.cached_tokens);
  const cacheWrite = count(read?.cache_write_tokens ?? told.cache_creation_input_tokens);
  const reasoning = count(told.completion_tokens_details?.reasoning_tokens);
  // Some servers count thoughts apart from the answer; their sum shows it.
  const isApart = reasoning > 0 && told.total_tokens === prompt + completion + reasoning;
  return {
    input: Math.max(0, prompt - cacheRead - cacheWrite),
    output: completion + (isApart ? reasoning : 0),
    cacheRead,
    cacheWrite,
    ...(reasoning > 0 && { reasoning }),
  };
}

const count = (value: unknown) => (typeof value === 'number' && value > 0 ? Math.round(value) : 0);
