import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { ModelRequest, ToolSpec } from '../../request.ts';
import { type CacheMark, lastMarked, type TextBlock } from './content.ts';
import { type MessageParam, messageParams } from './messages.ts';
import { type ThinkingParams, thinkingParams } from './thinking.ts';

/** The request body. Equal requests have equal bytes, as prompt caching requires. */
export interface AnthropicBody extends ThinkingParams {
  readonly model: string;
  readonly system?: readonly (TextBlock & CacheMark)[];
  readonly tools?: readonly (ToolParam & CacheMark)[];
  readonly messages: readonly MessageParam[];
  readonly stream: true;
}

interface ToolParam {
  readonly name: string;
  readonly description: string;
  readonly input_schema: object;
}

export function anthropicBody(request: ModelRequest): AnthropicBody {
  const { model, systemPrompt, tools, messages } = request;
  const params = messageParams(messages, model);
  return {
    model: model.id,
    ...thinkingParams(request, params),
    ...(systemPrompt.trim() === '' ? {} : { system: lastMarked([{ type: 'text', text: systemPrompt }]) }),
    ...(tools.length === 0 ? {} : { tools: toolParams(tools, model) }),
    messages: withCacheMark(params),
    stream: true,
  };
}

function toolParams(tools: readonly ToolSpec[], { compat = {} }: Model): (ToolParam & CacheMark)[] {
  const isEager = compat['supportsEagerToolInputStreaming'] === true;
  const params = tools.map((tool) => ({ ...toolParam(tool), ...(isEager ? { eager_input_streaming: true } : {}) }));
  return compat['supportsCacheControlOnTools'] === false ? params : lastMarked(params);
}

const toolParam = ({ name, description, parameters }: ToolSpec): ToolParam => ({
  name,
  description,
  input_schema: { type: 'object', ...parameters },
});

// Caches up to the last user message: the next request begins with it.
function withCacheMark(params: readonly MessageParam[]): MessageParam[] {
  const last = params.findLast(({ role }) => role === 'user');
  return params.map((param) =>
    param === last && param.role === 'user' ? { ...param, content: lastMarked(param.content) } : param,
  );
}

// OAuth tokens begin with this.
const OAUTH_KEY_PREFIX = 'sk-ant-oat';

/** The headers of a request, by the kind of key and the use of thinking. */
export function headersFor(apiKey: string | undefined, body: AnthropicBody): Record<string, string> {
  const isOAuth = apiKey?.startsWith(OAUTH_KEY_PREFIX) ?? false;
  const betas = [
    ...(isOAuth ? ['oauth-2025-04-20'] : []),
    ...(body.thinking?.type === 'enabled' && body.tools ? ['interleaved-thinking-2025-05-14'] : []),
  ];
  return {
    'anthropic-version': '2023-06-01',
    ...(betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}),
    ...(apiKey === undefined ? {} : isOAuth ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey }),
  };
}
