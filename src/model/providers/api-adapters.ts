import type { Model } from '../../protocol/generated/vocabulary.ts';
import type { ApiAdapter } from '../endpoint.ts';
import { ModelFailure } from '../request.ts';
import type { PackageFolders } from './ai-sdk/load-package.ts';
import { withCopilotHeaders } from './github-copilot.ts';

// API kinds with this prefix name a package of the AI SDK.
const AI_SDK_PREFIX = 'ai-sdk:';

/** Loads the adapter for the API kind of a model on first use. */
export async function loadApiAdapter(model: AdaptedModel, folders: PackageFolders): Promise<ApiAdapter> {
  const adapter = await adapterFor(model, folders);
  return model.provider === 'github-copilot' ? withCopilotHeaders(adapter) : adapter;
}

type AdaptedModel = Pick<Model, 'api' | 'provider'>;

async function adapterFor({ api, provider }: AdaptedModel, folders: PackageFolders): Promise<ApiAdapter> {
  if (provider === 'azure' && api === 'openai-completions')
    return (await import('./azure/adapter.ts')).azureCompletions;
  switch (api) {
    case 'anthropic-messages':
      return (await import('./anthropic/adapter.ts')).anthropicMessages;
    case 'openai-completions':
      return (await import('./completions/adapter.ts')).openaiCompletions;
    case 'openai-responses':
      return (await import('./responses/adapter.ts')).openaiResponses;
    case 'openai-codex-responses':
      return (await import('./responses/adapter.ts')).openaiCodexResponses;
    case 'google-generative-ai':
      return (await import('./google/adapter.ts')).googleGenerativeAi;
    case 'azure-openai-responses':
      return (await import('./azure/adapter.ts')).azureResponses;
    case 'bedrock-converse-stream':
      return (await import('./bedrock/adapter.ts')).bedrock;
    case 'google-vertex':
      return (await import('./vertex/adapter.ts')).googleVertex;
    case 'mistral-conversations':
      return (await import('./mistral/adapter.ts')).mistralChat;
    default:
      if (api.startsWith(AI_SDK_PREFIX))
        return (await import('./ai-sdk/adapter.ts')).aiSdk(api.slice(AI_SDK_PREFIX.length), folders);
      throw new ModelFailure('model_error', `Unknown API kind: ${api}`);
  }
}
