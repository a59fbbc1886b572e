import type { LanguageModelV3FunctionTool } from '@ai-sdk/provider';
import type { ModelRequest, ToolSpec } from '../../request.ts';
import { isThinkingLevel, nearestLevel } from '../../thinking-levels.ts';
import { maxOutputTokens } from '../../token-estimate.ts';
import { type ProviderOptions, recordOf, type SdkCallOptions, type SdkVersion } from './language-model.ts';
import { encodePrompt } from './prompt.ts';
import { thinkingOptions } from './thinking-options.ts';

interface CallTarget {
  readonly packageName: string;
  readonly version: SdkVersion;
  readonly abortSignal: AbortSignal;
}

/** A request in the form of the AI SDK. */
export function callOptions(request: ModelRequest, { packageName, version, abortSignal }: CallTarget): SdkCallOptions {
  return {
    prompt: encodePrompt(request, version),
    maxOutputTokens: maxOutputTokens(request),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(functionTool), toolChoice: { type: 'auto' } }),
    ...(version === 'v4' ? reasoningOption(request) : {}),
    providerOptions: providerOptions(request, version === 'v4' ? {} : thinkingOptions(request, packageName)),
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

function reasoningOption({ model, thinkingLevel }: ModelRequest): Pick<SdkCallOptions, 'reasoning'> {
  if (!model.reasoning) return {};
  const level = nearestLevel(model, thinkingLevel);
  return { reasoning: level === 'off' ? 'none' : level };
}

// `compat.providerOptions` apply to every request; those under the name of a level, only at that level.
function providerOptions({ model, thinkingLevel }: ModelRequest, thinking: Record<string, object>): ProviderOptions {
  const given = recordOf(model.compat?.['providerOptions']);
  const options: Record<string, object> = { ...thinking };
  const always = Object.entries(given).filter(([name]) => !isThinkingLevel(name));
  for (const [provider, own] of [...always, ...Object.entries(recordOf(given[thinkingLevel]))]) {
    options[provider] = { ...options[provider], ...recordOf(own) };
  }
  return options as ProviderOptions;
}
