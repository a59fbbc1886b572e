import type { ModelRequest, ToolSpec } from '../../request.ts';
import { type CacheMark, lastMarked } from './cache-mark.ts';
import type { TextBlock } from './content.ts';
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
    ...(tools.length === 0 ? {} : { tools: lastMarked(tools.map(toolParam)) }),
    messages: withCacheMark(params),
    stream: true,
  };
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
