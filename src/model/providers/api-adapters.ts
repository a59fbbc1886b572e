import type { ApiAdapter } from '../endpoint.ts';
import { ModelFailure } from '../request.ts';
import type { PackageFolders } from './ai-sdk/load-package.ts';

// API kinds with this prefix name a package of the AI SDK.
const AI_SDK_PREFIX = 'ai-sdk:';

/** Loads the adapter of an API kind on first use. */
export async function loadApiAdapter(api: string, folders: PackageFolders): Promise<ApiAdapter> {
  switch (api) {
    case 'anthropic-messages':
      return (await import('./anthropic/adapter.ts')).anthropicMessages;
    case 'openai-completions':
      return (await import('./completions/adapter.ts')).openaiCompletions;
    case 'openai-responses':
      return (await import('./responses/adapter.ts')).openaiResponses;
    case 'google-generative-ai':
      return (await import('./google/adapter.ts')).googleGenerativeAi;
    default:
      if (api.startsWith(AI_SDK_PREFIX))
        return (await import('./ai-sdk/adapter.ts')).aiSdk(api.slice(AI_SDK_PREFIX.length), folders);
      throw new ModelFailure('model_error', `Unknown API kind: ${api}`);
  }
}
