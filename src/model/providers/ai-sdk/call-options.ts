import type { LanguageModelV3FunctionTool } from '@ai-sdk/provider';
import type { ModelRequest, ToolSpec } from '../../request.ts';
import { isThinkingLevel } from '../../thinking-levels.ts';
import { maxOutputTokens } from '../../token-estimate.ts';
import { type ProviderOptions, recordOf, type SdkCallOptions } from './language-model.ts';
import { encodePrompt } from './prompt.ts';

/** A request in the form of the AI SDK. */
export function callOptions(request: ModelRequest, abortSignal: AbortSignal): SdkCallOptions {
  return {
    prompt: encodePrompt(request),
    maxOutputTokens: maxOutputTokens(request),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(functionTool), toolChoice: { type: 'auto' } }),
    providerOptions: providerOptions(request),
    // Raw chunks prove that the server is alive even if tau ignores their content.
    includeRawChunks: true,
    abortSignal,
  };
}

const functionTool = ({ name, description, parameters }: ToolSpec) => ({
  type: 'function' as const,
  name,
  description,
  inputSchema: parameters as LanguageModelV3FunctionTool['inputSchema'],
});

// `compat.providerOptions` apply to every request; those under the name of a level, only at that level.
function providerOptions({ model, thinkingLevel }: ModelRequest): ProviderOptions {
  const given = recordOf(model.compat?.['providerOptions']);
  const options: Record<string, object> = {};
  const always = Object.entries(given).filter(([name]) => !isThinkingLevel(name));
  for (const [provider, own] of [...always, ...Object.entries(recordOf(given[thinkingLevel]))]) {
    options[provider] = { ...options[provider], ...recordOf(own) };
  }
  return options as ProviderOptions;
}
