import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { servers, unlistedServerModels } from './servers.ts';

const thinkingFormats = ['openai', 'openrouter', 'deepseek', 'zai', 'qwen', 'qwen-chat-template', 'together'] as const;

/** How a server is told to think, or not to. */
export type ThinkingFormat = (typeof thinkingFormats)[number];

/** In what a server differs from others that speak this API. */
export interface Quirks {
  readonly supportsStore: boolean;
  /** Instructions to a model that thinks come from the `developer`; elsewhere from the `system`. */
  readonly supportsDeveloperRole: boolean;
  readonly supportsReasoningEffort: boolean;
  /** The server's words for thinking levels. */
  readonly reasoningEffortMap: Readonly<Record<string, string>>;
  /** The server tells the usage in a stream when it is asked to. */
  readonly supportsUsageInStreaming: boolean;
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens';
  readonly requiresToolResultName: boolean;
  /** A user may not speak right after a tool. */
  readonly requiresAssistantAfterToolResult: boolean;
  readonly requiresThinkingAsText: boolean;
  /** Where a model thinks, an answer without a thought is refused. */
  readonly requiresReasoningContentOnAssistantMessages: boolean;
  /** Ids of tool calls are nine letters or digits, no more and no less. */
  readonly requiresMistralToolIds: boolean;
  readonly thinkingFormat: ThinkingFormat;
  readonly supportsStrictMode: boolean;
  /** The server finds what it has cached of a conversation by a key. */
  readonly supportsPromptCacheKey: boolean;
  /** The server caches up to marks in the messages. */
  readonly cacheControlFormat: 'anthropic' | undefined;
  /** Which providers OpenRouter may ask, as its `provider` field. */
  readonly openRouterRouting: Readonly<Record<string, unknown>> | undefined;
  /** The same for Vercel's gateway. */
  readonly vercelGatewayRouting: Readonly<Record<string, unknown>> | undefined;
}

/** A server that nobody knows, as those on one's own machine are: nothing that one of them refuses or overlooks. */
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
  supportsPromptCacheKey: false,
  cacheControlFormat: undefined,
  openRouterRouting: undefined,
  vercelGatewayRouting: undefined,
};

/** What is known of the server of a model; what the user says of it wins. */
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

/** Of what stands in a user's files, that which has the right form. */
function userQuirks({ compat = {} }: Model): Partial<Quirks> {
  return Object.fromEntries(
    Object.entries(validators).flatMap(([name, isValid]) => (isValid(compat[name]) ? [[name, compat[name]]] : [])),
  );
}

type Validator = (value: unknown) => boolean;

const isFlag: Validator = (value) => typeof value === 'boolean';
const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const oneOf =
  (...allowed: readonly string[]): Validator =>
  (value) =>
    allowed.some((item) => item === value);

const validators: Readonly<Record<keyof Quirks, Validator>> = {
  supportsStore: isFlag,
  supportsDeveloperRole: isFlag,
  supportsReasoningEffort: isFlag,
  reasoningEffortMap: (value) => isRecord(value) && Object.values(value).every((word) => typeof word === 'string'),
  supportsUsageInStreaming: isFlag,
  maxTokensField: oneOf('max_completion_tokens', 'max_tokens'),
  requiresToolResultName: isFlag,
  requiresAssistantAfterToolResult: isFlag,
  requiresThinkingAsText: isFlag,
  requiresReasoningContentOnAssistantMessages: isFlag,
  requiresMistralToolIds: isFlag,
  thinkingFormat: oneOf(...thinkingFormats),
  supportsStrictMode: isFlag,
  supportsPromptCacheKey: isFlag,
  cacheControlFormat: oneOf('anthropic'),
  openRouterRouting: isRecord,
  vercelGatewayRouting: isRecord,
};
