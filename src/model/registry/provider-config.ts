import type { Model, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import type { OAuthCredential } from '../../store/credentials.ts';
import type { CustomProvider } from '../../store/models-file.ts';
import type { ModelMessage, ToolSpec } from '../request.ts';

/** A provider as an extension describes it: what `models.json` could say, and code for what it could not. */
export interface ProviderConfig extends CustomProvider {
  /** What people call it. */
  readonly name?: string;
  /** Speaks the API kind that `api` names, to the models of this provider that have it. */
  readonly streamSimple?: StreamSimple;
  readonly oauth?: SignIn;
}

/** Asks a model. It must answer a stream of events, in the form that pi gives them; they are not trusted. */
export type StreamSimple = (model: Model, context: StreamContext, options: StreamOptions) => unknown;

export interface StreamContext {
  readonly systemPrompt: string;
  readonly messages: ModelMessage[];
  readonly tools: ToolSpec[];
}

export interface StreamOptions {
  readonly apiKey?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Absent where the model is not to think. */
  readonly reasoning?: Exclude<ThinkingLevel, 'off'>;
  readonly thinkingBudgets?: Readonly<Partial<Record<ThinkingLevel, number>>>;
  readonly maxTokens: number;
  readonly sessionId?: string;
  /** To be given the body before it is posted; what it answers is to be posted instead, unless that is undefined. */
  readonly onPayload?: (payload: unknown) => Promise<unknown>;
}

/** What becomes of a stored sign-in. How one comes to it is not asked for. */
export interface SignIn {
  readonly getApiKey: (credential: OAuthCredential) => string;
  readonly refreshToken: (expired: OAuthCredential, signal: AbortSignal) => Promise<object>;
}
