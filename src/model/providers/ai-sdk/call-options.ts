import type { LanguageModelV3FunctionTool } from '@ai-sdk/provider';
import { maxOutputTokens } from '../../max-output.ts';
import type { ModelRequest, ToolSpec } from '../../request.ts';
import { isThinkingLevel } from '../../thinking-levels.ts';
import type { SdkCallOptions, ProviderOptions } from './language-model.ts';
import { encodePrompt } from './prompt.ts';
import { recordOf } from './record.ts';

/** A request as the AI SDK has it. */
export function callOptions(request: ModelRequest, abortSignal: AbortSignal): SdkCallOptions {
  return {
    prompt: encodePrompt(request),
    maxOutputTokens: maxOutputTokens(request),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(functionTool), toolChoice: { type: 'auto' } }),
    providerOptions: providerOptions(request),
    // They tell that the server is alive when what it says means nothing to us.
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

/** What `compat.providerOptions` holds for every request, and under the name of a level for requests that think so. */
function providerOptions({ model, thinkingLevel }: ModelRequest): ProviderOptions {
  const given = recordOf(model.compat?.['providerOptions']);
  const options: Record<string, object> = {};
  const always = Object.entries(given).filter(([name]) => !isThinkingLevel(name));
  for (const [provider, own] of [...always, ...Object.entries(recordOf(given[thinkingLevel]))]) {
    options[provider] = { ...options[provider], ...recordOf(own) };
  }
  return options as ProviderOptions;
}
