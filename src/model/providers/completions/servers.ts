import type { Quirks } from './quirks.ts';

interface KnownServer {
  // Names of providers; they take precedence over hosts.
  readonly providers?: readonly string[];
  // Hosts, including their subdomains.
  readonly hosts?: readonly string[];
  readonly quirks: Partial<Quirks>;
  // Models that differ from the others of their server.
  readonly models?: readonly ModelQuirks[];
}

interface ModelQuirks {
  readonly id: RegExp;
  readonly quirks: Partial<Quirks>;
}

/** Model quirks on unknown servers. */
export const unlistedServerModels: readonly ModelQuirks[] = [
  { id: /^(?:openai\/)?(?:o[1-9]|gpt-[5-9])/, quirks: { maxTokensField: 'max_completion_tokens' } },
];

const openai: Partial<Quirks> = {
  supportsStore: true,
  supportsDeveloperRole: true,
  maxTokensField: 'max_completion_tokens',
  supportsStrictMode: true,
  supportsPromptCacheKey: true,
  supportsLongCacheRetention: true,
};

/** How known servers differ from unknown ones. */
export const servers: readonly KnownServer[] = [
  { providers: ['openai'], hosts: ['api.openai.com'], quirks: openai },
  { providers: ['azure', 'azure-openai'], hosts: ['openai.azure.com'], quirks: openai },
  {
    providers: ['openrouter'],
    hosts: ['openrouter.ai'],
    quirks: { thinkingFormat: 'openrouter' },
    models: [{ id: /^~?anthropic\//, quirks: { cacheControlFormat: 'anthropic' } }],
  },
  {
    providers: ['vercel-ai-gateway'],
    hosts: ['ai-gateway.vercel.sh'],
    quirks: { thinkingFormat: 'openrouter' },
    models: [{ id: /^anthropic\//, quirks: { cacheControlFormat: 'anthropic' } }],
  },
  {
    providers: ['groq'],
    hosts: ['api.groq.com'],
    quirks: { maxTokensField: 'max_completion_tokens', reasoningEffortMap: { minimal: 'low' } },
    models: [
      {
        id: /qwen3/i,
        quirks: {
          reasoningEffortMap: { off: 'none', minimal: 'default', low: 'default', medium: 'default', high: 'default' },
        },
      },
    ],
  },
  {
    providers: ['cerebras'],
    hosts: ['api.cerebras.ai'],
    quirks: { maxTokensField: 'max_completion_tokens', reasoningEffortMap: { minimal: 'low' } },
  },
  // Most of its models reject a reasoning effort.
  { providers: ['xai'], hosts: ['api.x.ai'], quirks: { supportsReasoningEffort: false } },
  {
    providers: ['deepseek'],
    hosts: ['api.deepseek.com'],
    quirks: { thinkingFormat: 'deepseek', requiresReasoningContentOnAssistantMessages: true },
  },
  {
    providers: ['mistral'],
    hosts: ['api.mistral.ai'],
    quirks: {
      supportsUsageInStreaming: false,
      thinkingFormat: 'mistral',
      supportsPromptCacheKey: true,
      requiresToolResultName: true,
      requiresAssistantAfterToolResult: true,
      requiresMistralToolIds: true,
    },
  },
  {
    providers: ['zai', 'zai-coding-cn'],
    hosts: ['api.z.ai', 'open.bigmodel.cn'],
    quirks: { thinkingFormat: 'zai' },
  },
  {
    providers: ['qwen', 'alibaba', 'qwen-token-plan'],
    hosts: ['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', 'dashscope-us.aliyuncs.com'],
    quirks: { thinkingFormat: 'qwen' },
  },
  { providers: ['together'], hosts: ['api.together.xyz', 'api.together.ai'], quirks: { thinkingFormat: 'together' } },
  {
    providers: ['fireworks'],
    hosts: ['api.fireworks.ai'],
    quirks: { reasoningEffortMap: { off: 'none', minimal: 'low' } },
  },
  {
    providers: ['moonshotai', 'moonshotai-cn', 'moonshot'],
    hosts: ['api.moonshot.ai', 'api.moonshot.cn'],
    quirks: { thinkingFormat: 'zai', requiresReasoningContentOnAssistantMessages: true },
  },
  {
    providers: ['github-copilot'],
    hosts: ['githubcopilot.com'],
    quirks: { supportsReasoningEffort: false },
  },
];
