import type { Model, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import type { OAuthCredential } from '../../store/credentials.ts';
import type { CustomProvider } from '../../store/models-file.ts';
import type { ModelMessage, ToolSpec } from '../request.ts';

/** A provider of an extension: the fields of `models.json`, and code. */
export interface ProviderConfig extends CustomProvider {
  /** Is shown to users. */
  readonly name?: string;
  /** Streams responses for the models of this provider that have the API kind `api`. */
  readonly streamSimple?: StreamSimple;
  readonly oauth?: SignIn;
}

/** Calls a model. Must return pi's stream of events, which is untrusted. */
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
  /** Is absent if thinking is off. */
  readonly reasoning?: Exclude<ThinkingLevel, 'off'>;
  readonly thinkingBudgets?: Readonly<Partial<Record<ThinkingLevel, number>>>;
  readonly maxTokens: number;
  readonly sessionId?: string;
  /** Gets the body before it is posted, and may return a replacement. */
  readonly onPayload?: (payload: unknown) => Promise<unknown>;
}

/** Turns a stored sign-in into a key and renews it. tau itself offers no login. */
export interface SignIn {
  readonly getApiKey: (credential: OAuthCredential) => string;
  readonly refreshToken: (expired: OAuthCredential, signal: AbortSignal) => Promise<object>;
}
