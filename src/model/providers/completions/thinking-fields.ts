import type { ModelRequest } from '../../request.ts';
import { nearestLevel } from '../../thinking-levels.ts';
import type { Quirks, ThinkingFormat } from './quirks.ts';

/** The fields that tell a server how much to think. */
export function thinkingFields(request: ModelRequest, quirks: Quirks): object {
  const { model, thinkingBudgets = {} } = request;
  if (!model.reasoning) return {};
  const level = nearestLevel(model, request.thinkingLevel);
  const isOn = level !== 'off';
  const named = model.thinkingLevelMap?.[level] ?? quirks.reasoningEffortMap[level];
  const levelName = typeof named === 'string' ? named : isOn ? level : undefined;
  return formats[quirks.thinkingFormat]({
    isOn,
    levelName,
    effort: levelName !== undefined && quirks.supportsReasoningEffort ? { reasoning_effort: levelName } : {},
    budget: thinkingBudgets[level],
  });
}

interface ThinkingOptions {
  readonly isOn: boolean;
  /** The server's name of the level; undefined if thinking is off and the server has no name for that. */
  readonly levelName: string | undefined;
  /** The same as a field, for servers that support it. */
  readonly effort: { reasoning_effort?: string };
  readonly budget: number | undefined;
}

const formats: Readonly<Record<ThinkingFormat, (options: ThinkingOptions) => object>> = {
  openai: ({ effort }) => effort,
  openrouter: ({ levelName = 'none' }) => ({ reasoning: { effort: levelName } }),
  deepseek: ({ isOn, effort }) => ({ thinking: switched(isOn), ...(isOn && effort) }),
  zai: ({ isOn }) => ({ thinking: switched(isOn) }),
  qwen: ({ isOn, budget }) => ({
    enable_thinking: isOn,
    ...(isOn && budget !== undefined && { thinking_budget: budget }),
  }),
  'qwen-chat-template': ({ isOn }) => ({ chat_template_kwargs: { enable_thinking: isOn } }),
  together: ({ isOn, effort }) => ({ reasoning: { enabled: isOn }, ...(isOn && effort) }),
};

const switched = (isOn: boolean) => ({ type: isOn ? 'enabled' : 'disabled' });
