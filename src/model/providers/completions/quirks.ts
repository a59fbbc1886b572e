import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { isObject } from '../../../protocol/json.ts';
import { servers, unlistedServerModels } from './servers.ts';

const thinkingFormats = [
  'openai',
  'openrouter',
  'deepseek',
  'zai',
  'qwen',
  'qwen-chat-template',
  'chat-template',
  'baseten',
  'together',
  'mistral',
] as const;

const budgetFields = ['thinking_budget', 'thinking_budget_tokens', 'thinking_token_budget'] as const;

/** The request field that sets how much a server thinks. */
export type ThinkingFormat = (typeof thinkingFormats)[number];

/** How a server differs from others with this API. */
export interface Quirks {
  readonly supportsStore: boolean;
  /** Reasoning models get their instructions from the `developer` role instead of `system`. */
  readonly supportsDeveloperRole: boolean;
  readonly supportsReasoningEffort: boolean;
  /** The server's names of thinking levels. */
  readonly reasoningEffortMap: Readonly<Record<string, string>>;
  /** The server reports usage in a stream on request. */
  readonly supportsUsageInStreaming: boolean;
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens';
  readonly requiresToolResultName: boolean;
  /** A user message may not follow a tool message directly. */
  readonly requiresAssistantAfterToolResult: boolean;
  readonly requiresThinkingAsText: boolean;
  /** A reasoning model rejects assistant messages without thinking. */
  readonly requiresReasoningContentOnAssistantMessages: boolean;
  /** Tool call ids have exactly nine letters or digits. */
  readonly requiresMistralToolIds: boolean;
  readonly thinkingFormat: ThinkingFormat;
  readonly supportsStrictMode: boolean;
  /** The server ends a response with a finish reason; else the end of the stream ends it. */
  readonly supportsFinishReason: boolean;
  /** Fields for the chat template; a value `{$var}` is replaced by a value of the request. */
  readonly chatTemplateKwargs: Readonly<Record<string, unknown>>;
  /** The same under the name that Baseten uses. */
  readonly chatTemplateArgs: Readonly<Record<string, unknown>>;
  /** The field for the token budget of thinking. */
  readonly thinkingTokenBudgetField: (typeof budgetFields)[number] | undefined;
  /** The budget goes into `thinking_token_budget`. */
  readonly supportsThinkingTokenBudget: boolean;
  /** The server streams tool calls only on request. */
  readonly zaiToolStream: boolean;
  readonly vllmPriority: number | undefined;
  /** The server keeps cached prompts for a day on request. */
  readonly supportsLongCacheRetention: boolean;
  /** The server identifies cached conversations by a key. */
  readonly supportsPromptCacheKey: boolean;
  /** The server caches up to marks in the messages. */
  readonly cacheControlFormat: 'anthropic' | undefined;
  /** The `provider` field that restricts OpenRouter's providers. */
  readonly openRouterRouting: Readonly<Record<string, unknown>> | undefined;
  /** The same for Vercel's gateway. */
  readonly vercelGatewayRouting: Readonly<Record<string, unknown>> | undefined;
}

// For unknown servers, such as local ones: sends nothing that one of them rejects.
const defaults: Quirks = {
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsReasoningEffort: true,
  reasoningEffortMap: {},
  supportsUsageInStreaming: true,
  maxTokensField: 'max_tokens',
  requiresToolResultName: false,
  requiresAssistantAfterToolResult: false,
  requiresThinkingAsText: false,
  requiresReasoningContentOnAssistantMessages: false,
  requiresMistralToolIds: false,
  thinkingFormat: 'openai',
  supportsStrictMode: false,
  supportsFinishReason: true,
  chatTemplateKwargs: {},
  chatTemplateArgs: {},
  thinkingTokenBudgetField: undefined,
  supportsThinkingTokenBudget: false,
  zaiToolStream: false,
  vllmPriority: undefined,
  supportsLongCacheRetention: false,
  supportsPromptCacheKey: false,
  cacheControlFormat: undefined,
  openRouterRouting: undefined,
  vercelGatewayRouting: undefined,
};

/** The quirks of a model's server; the user's settings win. */
export function quirksOf(model: Model): Quirks {
  return { ...defaults, ...serverQuirks(model), ...userQuirks(model) };
}

function serverQuirks(model: Model): Partial<Quirks> {
  const host = hostOf(model.baseUrl);
  // A provider keeps its name behind a proxy.
  const server =
    servers.find(({ providers }) => providers?.includes(model.provider)) ??
    servers.find(({ hosts }) => hosts?.some((name) => host === name || host.endsWith(`.${name}`)));
  const variants = server ? (server.models ?? []) : unlistedServerModels;
  return Object.assign(
    {},
    server?.quirks,
    ...variants.filter(({ id }) => id.test(model.id)).map(({ quirks }) => quirks),
  );
}

const hostOf = (url: string | undefined) => (url !== undefined && URL.canParse(url) ? new URL(url).hostname : '');

// Ignores values of the wrong type in the user's files.
function userQuirks({ compat = {} }: Model): Partial<Quirks> {
  return Object.fromEntries(
    Object.entries(validators).flatMap(([name, isValid]) => (isValid(compat[name]) ? [[name, compat[name]]] : [])),
  );
}

type Validator = (value: unknown) => boolean;

const isFlag: Validator = (value) => typeof value === 'boolean';
const oneOf =
  (...allowed: readonly string[]): Validator =>
  (value) =>
    allowed.some((item) => item === value);

const validators: Readonly<Record<keyof Quirks, Validator>> = {
  supportsStore: isFlag,
  supportsDeveloperRole: isFlag,
  supportsReasoningEffort: isFlag,
  reasoningEffortMap: (value) => isObject(value) && Object.values(value).every((word) => typeof word === 'string'),
  supportsUsageInStreaming: isFlag,
  maxTokensField: oneOf('max_completion_tokens', 'max_tokens'),
  requiresToolResultName: isFlag,
  requiresAssistantAfterToolResult: isFlag,
  requiresThinkingAsText: isFlag,
  requiresReasoningContentOnAssistantMessages: isFlag,
  requiresMistralToolIds: isFlag,
  thinkingFormat: oneOf(...thinkingFormats),
  supportsStrictMode: isFlag,
  supportsFinishReason: isFlag,
  chatTemplateKwargs: isObject,
  chatTemplateArgs: isObject,
  thinkingTokenBudgetField: oneOf(...budgetFields),
  supportsThinkingTokenBudget: isFlag,
  zaiToolStream: isFlag,
  vllmPriority: (value) => typeof value === 'number',
  supportsLongCacheRetention: isFlag,
  supportsPromptCacheKey: isFlag,
  cacheControlFormat: oneOf('anthropic'),
  openRouterRouting: isObject,
  vercelGatewayRouting: isObject,
};
