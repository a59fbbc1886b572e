import type { UsageCounts } from '../../priced-usage.ts';

// Token counts, with the fields of several servers.
interface CompletionsUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
  readonly prompt_cache_hit_tokens?: number;
  readonly cached_tokens?: number;
  readonly num_cached_tokens?: number;
  readonly cache_write_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  /** OpenRouter reports the billed cost; for a key of the user at the upstream provider, its own fee. */
  readonly cost?: number;
  readonly is_byok?: boolean;
  readonly cost_details?: { readonly upstream_inference_cost?: number | null } | null;
}

/** The token counts in a chunk; undefined if there are none. */
export function parseCounts(usage: unknown): UsageCounts | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const reported = usage as CompletionsUsage;
  const promptDetails = reported.prompt_tokens_details;
  const prompt = count(reported.prompt_tokens);
  const completion = count(reported.completion_tokens);
  if (prompt + completion === 0) return undefined;
  const cacheRead = count(
    promptDetails?.cached_tokens ??
      reported.prompt_cache_hit_tokens ??
      reported.cached_tokens ??
      reported.num_cached_tokens,
  );
  const cacheWrite = count(
    promptDetails?.cache_write_tokens ?? reported.cache_write_tokens ?? reported.cache_creation_input_tokens,
  );
  const reasoning = count(reported.completion_tokens_details?.reasoning_tokens);
  // Some servers count thinking apart from the output; their total shows it.
  const isExtra = reasoning > 0 && reported.total_tokens === prompt + completion + reasoning;
  return {
    input: Math.max(0, prompt - cacheRead - cacheWrite),
    output: completion + (isExtra ? reasoning : 0),
    cacheRead,
    cacheWrite,
    ...(reasoning > 0 && { reasoning }),
    ...billedCost(reported),
  };
}

function billedCost({ cost, is_byok: hasOwnKey, cost_details: details }: CompletionsUsage): { totalCost?: number } {
  if (!isCost(cost) || typeof hasOwnKey !== 'boolean') return {};
  if (!hasOwnKey) return { totalCost: cost };
  const upstream = details?.upstream_inference_cost;
  return isCost(upstream) ? { totalCost: cost + upstream } : {};
}

const isCost = (value: unknown): value is number => typeof value === 'number' && value >= 0 && Number.isFinite(value);

const count = (value: unknown) => (typeof value === 'number' && value > 0 ? Math.round(value) : 0);
