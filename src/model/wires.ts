import type { Wire } from './endpoint.ts';
import { ModelFailure } from './request.ts';

/** How an API kind is written that a package of the AI SDK speaks. */
const AI_SDK = 'ai-sdk:';

/** Where packages of the AI SDK are looked for. */
export interface PackagePlaces {
  readonly agentDir: string;
  /** Only where it is trusted. */
  readonly cwd?: string;
}

/** Who speaks this API kind; loaded when first asked for. */
export async function wireFor(api: string, places: PackagePlaces): Promise<Wire> {
  switch (api) {
    case 'anthropic-messages':
      return (await import('./providers/anthropic-messages.ts')).anthropicMessages;
    case 'openai-completions':
      return (await import('./providers/openai-completions.ts')).openaiCompletions;
    case 'openai-responses':
      return (await import('./providers/openai-responses.ts')).openaiResponses;
    case 'google-generative-ai':
      return (await import('./providers/google-generative-ai.ts')).googleGenerativeAi;
    default:
      if (api.startsWith(AI_SDK))
        return (await import('./providers/ai-sdk.ts')).aiSdk(api.slice(AI_SDK.length), places);
      throw new ModelFailure('model_error', `Unknown API kind: ${api}`);
  }
}
