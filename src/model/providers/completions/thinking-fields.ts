import { isObject } from '../../../protocol/json.ts';
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
  const budget = isOn ? thinkingBudgets[level] : undefined;
  const budgetField =
    quirks.thinkingTokenBudgetField ?? (quirks.supportsThinkingTokenBudget ? 'thinking_token_budget' : undefined);
  const resolve = (values: Readonly<Record<string, unknown>>) =>
    resolvedValues(values, { 'thinking.enabled': isOn, 'thinking.effort': levelName, 'thinking.budget': budget });
  const fields = formats[quirks.thinkingFormat]({
    kwargs: resolve(quirks.chatTemplateKwargs),
    args: resolve(quirks.chatTemplateArgs),
    isOn,
    levelName,
    mappedName: typeof named === 'string' ? named : undefined,
    effort: levelName !== undefined && quirks.supportsReasoningEffort ? { reasoning_effort: levelName } : {},
    budget,
  });
  return { ...fields, ...(budgetField !== undefined && budget !== undefined && { [budgetField]: budget }) };
}

/** Replaces values `{$var}`; a value without a replacement is omitted, and so is one with `omitWhenOff` without thinking. */
function resolvedValues(
  values: Readonly<Record<string, unknown>>,
  variables: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const resolved = Object.entries(values).map(([name, value]): [string, unknown] => {
    if (!isObject(value)) return [name, value];
    const isOmitted = value['omitWhenOff'] === true && variables['thinking.enabled'] === false;
    return [name, isOmitted ? undefined : variables[String(value['$var'])]];
  });
  return Object.fromEntries(resolved.filter(([, value]) => value !== undefined));
}

interface ThinkingOptions {
  readonly isOn: boolean;
  /** The server's name of the level; undefined if thinking is off and the server has no name for that. */
  readonly levelName: string | undefined;
  /** The name that the model or the server has for the level. */
  readonly mappedName: string | undefined;
  /** The same as a field, for servers that support it. */
  readonly effort: { reasoning_effort?: string };
  readonly budget: number | undefined;
  /** Fields for the chat template, by the names of most servers and of Baseten. */
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly args: Readonly<Record<string, unknown>>;
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
  // Older models have one way to think, which is switched on.
  mistral: ({ isOn, mappedName }) =>
    mappedName === undefined ? (isOn ? { prompt_mode: 'reasoning' } : {}) : { reasoning_effort: mappedName },
  'chat-template': ({ kwargs }) => (hasFields(kwargs) ? { chat_template_kwargs: kwargs } : {}),
  baseten: ({ args, effort }) => ({ ...(hasFields(args) && { chat_template_args: args }), ...effort }),
  together: ({ isOn, effort }) => ({ reasoning: { enabled: isOn }, ...(isOn && effort) }),
};

const hasFields = (values: object) => Object.keys(values).length > 0;

const switched = (isOn: boolean) => ({ type: isOn ? 'enabled' : 'disabled' });
