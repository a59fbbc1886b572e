import type { ApiAdapter } from '../endpoint.ts';
import { ModelFailure } from '../request.ts';
import type { PackageFolders } from './ai-sdk/load-package.ts';

/** How an API kind is written that a package of the AI SDK speaks. */
const AI_SDK_PREFIX = 'ai-sdk:';

/** Where packages of the AI SDK are looked for. */
export interface AiSdkFolders {
  readonly agentDir: string;
  /** Only where it is trusted. */
  readonly cwd?: string;
}

/** Who speaks this API kind; loaded when first asked for. */
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
