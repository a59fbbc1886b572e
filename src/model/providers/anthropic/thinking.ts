import type { Model, ThinkingLevel } from '../../../protocol/generated/vocabulary.ts';
import { longestAnswer } from '../../longest-answer.ts';
import type { ModelRequest } from '../../request.ts';
import { nearestLevel } from '../../thinking.ts';
import type { Turn } from './messages.ts';
import { isThoughtless } from './thoughtless.ts';

/** How long an answer may be, and how much of it may be thought. */
export interface Depth {
  readonly max_tokens: number;
  readonly thinking?:
    | { readonly type: 'enabled'; readonly budget_tokens: number }
    | { readonly type: 'adaptive'; readonly display: 'summarized' };
  readonly output_config?: { readonly effort: string };
}

type Thoughtful = Exclude<ThinkingLevel, 'off'>;

const budgets: Readonly<Record<Thoughtful, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 16_384,
  max: 16_384,
};

const efforts: Readonly<Record<Thoughtful, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

/** The API takes no smaller budget. */
const LEAST_BUDGET = 1024;
/** What thinking must leave for the answer. */
const LEAST_ANSWER = 1024;

export function depthOf(request: ModelRequest, turns: readonly Turn[]): Depth {
  const { model, thinkingLevel, thinkingBudgets } = request;
  const level = nearestLevel(model, thinkingLevel);
  const wanted = longestAnswer(request);
  if (level === 'off') return { max_tokens: wanted };
  if (isAdaptive(model)) {
    // Later models keep their thoughts to themselves unless they are asked for them.
    const thinking = { type: 'adaptive', display: 'summarized' } as const;
    return { max_tokens: wanted, thinking, output_config: { effort: effortOf(model, level) } };
  }
  const budget = Math.max(thinkingBudgets?.[level] ?? budgets[level], LEAST_BUDGET);
  const max_tokens = Math.min(wanted + budget, model.maxTokens);
  const budget_tokens = Math.min(budget, max_tokens - LEAST_ANSWER);
  if (budget_tokens < LEAST_BUDGET || isThoughtless(turns)) return { max_tokens: wanted };
  return { max_tokens, thinking: { type: 'enabled', budget_tokens } };
}

function effortOf({ thinkingLevelMap }: Model, level: Thoughtful): string {
  const own = thinkingLevelMap?.[level];
  return typeof own === 'string' ? own : efforts[level];
}

/** Whether a model decides by itself how long it thinks: those of Claude 4.6 and later do. */
function isAdaptive({ id, compat }: Model): boolean {
  if (typeof compat?.['forceAdaptiveThinking'] === 'boolean') return compat['forceAdaptiveThinking'];
  const [, major = 0, minor = 0] = (version.exec(id) ?? []).map(Number);
  return major > 4 || (major === 4 && minor >= 6);
}

/** Behind the name of the family; a date may follow, or take the place of the second number. */
const version = /claude-[a-z]+-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/;
