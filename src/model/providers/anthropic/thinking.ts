import type { Model, ThinkingLevel } from '../../../protocol/generated/vocabulary.ts';
import type { ModelRequest } from '../../request.ts';
import { nearestLevel } from '../../thinking-levels.ts';
import { maxOutputTokens } from '../../token-estimate.ts';
import { isThinkingBlock, isToolResult, type MessageParam } from './messages.ts';

/** The output limit of a request, and how much of it may be thinking. */
export interface ThinkingParams {
  readonly max_tokens: number;
  readonly thinking?:
    | { readonly type: 'enabled'; readonly budget_tokens: number }
    | { readonly type: 'adaptive'; readonly display: 'summarized' };
  readonly output_config?: { readonly effort: string };
}

type ActiveLevel = Exclude<ThinkingLevel, 'off'>;

const budgets: Readonly<Record<ActiveLevel, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 16_384,
  max: 16_384,
};

const efforts: Readonly<Record<ActiveLevel, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

// The API rejects smaller budgets.
const MIN_BUDGET_TOKENS = 1024;
// Thinking must leave this much for text.
const MIN_TEXT_TOKENS = 1024;

export function thinkingParams(request: ModelRequest, params: readonly MessageParam[]): ThinkingParams {
  const { model, thinkingLevel } = request;
  const level = nearestLevel(model, thinkingLevel);
  const outputLimit = maxOutputTokens(request);
  if (level === 'off') return { max_tokens: outputLimit };
  if (isAdaptive(model)) {
    // Later models omit their thinking unless requested.
    const thinking = { type: 'adaptive', display: 'summarized' } as const;
    return { max_tokens: outputLimit, thinking, output_config: { effort: effortOf(model, level) } };
  }
  const budget = thinkingBudget(request, level);
  const max_tokens = Math.min(outputLimit + budget, model.maxTokens);
  const budget_tokens = Math.min(budget, max_tokens - MIN_TEXT_TOKENS);
  if (budget_tokens < MIN_BUDGET_TOKENS || isUnsignedToolTurn(params)) return { max_tokens: outputLimit };
  return { max_tokens, thinking: { type: 'enabled', budget_tokens } };
}

/** The tokens that the user or tau allows for thinking at a level. */
export const thinkingBudget = ({ thinkingBudgets }: ModelRequest, level: ActiveLevel): number =>
  Math.max(thinkingBudgets?.[level] ?? budgets[level], MIN_BUDGET_TOKENS);

function effortOf({ thinkingLevelMap }: Model, level: ActiveLevel): string {
  const own = thinkingLevelMap?.[level];
  return typeof own === 'string' ? own : efforts[level];
}

/** Whether a Claude decides by itself how long to think, as 4.6 and later do. */
export function isAdaptive({ id, compat }: Model): boolean {
  if (typeof compat?.['forceAdaptiveThinking'] === 'boolean') return compat['forceAdaptiveThinking'];
  const [, major = 0, minor = 0] = (versionPattern.exec(id) ?? []).map(Number);
  return major > 4 || (major === 4 && minor >= 6);
}

// A date may follow the version or replace its second number.
const versionPattern = /claude-[a-z]+-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/;

/**
 * Whether the current tool turn began without thinking, as when thinking was off or another model began it. The API
 * rejects a thinking budget until that turn ends.
 */
function isUnsignedToolTurn(params: readonly MessageParam[]): boolean {
  const promptIndex = params.findLastIndex((param) => param.role === 'user' && !param.content.some(isToolResult));
  const assistant = params[promptIndex + 1];
  return assistant?.role === 'assistant' && !assistant.content.slice(0, 1).some(isThinkingBlock);
}
