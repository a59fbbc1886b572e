import type { ModelRequest, ToolSpec } from '../../request.ts';
import { keepsPromptLong, samplingParams } from '../../request-extras.ts';
import { maxOutputTokens } from '../../token-estimate.ts';
import { encodeMessages } from './encode-messages.ts';
import type { Quirks } from './quirks.ts';
import { thinkingFields } from './thinking-fields.ts';

/** The request body. Equal requests have equal bytes. */
export function requestBody(request: ModelRequest, quirks: Quirks): object {
  const { model, sessionId } = request;
  const limit = maxOutputTokens(request);
  return {
    model: model.id,
    messages: encodeMessages(request, quirks),
    stream: true,
    ...(quirks.supportsUsageInStreaming && { stream_options: { include_usage: true } }),
    ...(quirks.supportsStore && { store: false }),
    ...(limit > 0 && { [quirks.maxTokensField]: limit }),
    ...toolFields(request, quirks),
    ...thinkingFields(request, quirks),
    ...(quirks.supportsPromptCacheKey && sessionId !== undefined && { prompt_cache_key: sessionId.slice(0, 64) }),
    ...(quirks.supportsLongCacheRetention && keepsPromptLong() && { prompt_cache_retention: '24h' }),
    ...(quirks.vllmPriority !== undefined && { priority: quirks.vllmPriority }),
    ...(quirks.openRouterRouting && { provider: quirks.openRouterRouting }),
    ...(quirks.vercelGatewayRouting && { providerOptions: { gateway: quirks.vercelGatewayRouting } }),
    ...samplingParams(request),
  };
}

function toolFields(request: ModelRequest, quirks: Quirks): object {
  if (request.tools.length > 0) {
    const tools = request.tools.map((tool) => asFunction(tool, quirks));
    return { tools, ...(quirks.zaiToolStream && { tool_stream: true }) };
  }
  // OpenAI rejects an empty list, and proxies reject past calls of tools that are not in the list.
  const names = request.model.supportsTools === false ? [] : calledBefore(request);
  if (names.length === 0) return {};
  return { tools: names.map((name) => asFunction(removedTool(name), quirks)), tool_choice: 'none' };
}

const asFunction = ({ name, description, parameters }: ToolSpec, { supportsStrictMode }: Quirks) => ({
  type: 'function',
  function: { name, description, parameters, ...(supportsStrictMode && { strict: false }) },
});

const calledBefore = ({ messages }: ModelRequest): string[] => [
  ...new Set(
    messages.flatMap((message) =>
      message.role === 'assistant'
        ? message.content.flatMap((block) => (block.type === 'toolCall' ? [block.name] : []))
        : [],
    ),
  ),
];

const removedTool = (name: string): ToolSpec => ({
  name,
  description: 'No longer available.',
  parameters: { type: 'object', properties: {} },
});
