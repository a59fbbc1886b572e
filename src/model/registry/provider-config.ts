import type { Model, TextContent, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import type { OAuthCredential } from '../../store/credentials.ts';
import type { CustomProvider } from '../../store/models-file.ts';
import type { ModelMessage, ToolSpec, WireObserver } from '../request.ts';

/** A provider of an extension: the fields of `models.json`, and code. */
export interface ProviderConfig extends CustomProvider {
  /** Is shown to users. */
  readonly name?: string;
  /** Streams responses for the models of this provider that have the API kind `api`. */
  readonly streamSimple?: StreamSimple;
  readonly oauth?: SignIn;
  /** The provider object of pi-ai that was registered. */
  readonly providerObject?: object;
}

/** Calls a model. Must return pi's stream of events, which is untrusted. */
export type StreamSimple = (model: Model, context: StreamContext, options: StreamOptions) => unknown;

/** The first message is the system message. `systemPrompt` and `tools` repeat it for extensions of older versions. */
export interface StreamContext {
  readonly systemPrompt: string;
  readonly messages: TranscriptMessage[];
  readonly tools: ToolSpec[];
}

/** The prompt and the tools, in the form in which pi gives them to providers. */
export interface SystemMessage {
  readonly role: 'system';
  readonly content: string | readonly TextContent[];
  /** Parts of the prompt by name, after `content`; in a later message, null removes a part. */
  readonly sections?: Readonly<Record<string, string | null>>;
  readonly toolsAdded?: readonly ToolSpec[];
  readonly toolsRemoved?: readonly { readonly name: string }[];
  readonly timestamp: number;
}

export type TranscriptMessage = ModelMessage | SystemMessage;

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
  /** The stream calls it for each HTTP response. */
  readonly onResponse?: NonNullable<WireObserver['onResponse']>;
  /** The stream calls it for each parsed object that it receives. */
  readonly onProviderStreamEvent?: NonNullable<WireObserver['onStreamEvent']>;
}

/** How an extension signs in to its provider, under pi's names. */
export interface SignIn {
  /** Is shown to users. */
  readonly name?: string;
  readonly login?: (callbacks: LoginCallbacks) => Promise<object>;
  readonly getApiKey: (credential: OAuthCredential) => string;
  readonly refreshToken: (expired: OAuthCredential, signal: AbortSignal) => Promise<object>;
  /** Changes the models of the provider for the signed-in account. */
  readonly modifyModels?: (models: Model[], credential: OAuthCredential) => Model[];
  /** Whether requests count against a plan. */
  readonly isSubscription?: boolean;
}

/** The user, as the login of an extension interacts with it. A cancelled prompt rejects; a cancelled choice is undefined. */
export interface LoginCallbacks {
  readonly signal: AbortSignal;
  readonly onAuth: (info: { readonly url: string; readonly instructions?: string }) => void;
  readonly onDeviceCode: (info: { readonly userCode: string; readonly verificationUri: string }) => void;
  readonly onProgress: (message: string) => void;
  readonly onPrompt: (prompt: { readonly message: string; readonly placeholder?: string }) => Promise<string>;
  readonly onManualCodeInput: () => Promise<string>;
  readonly onSelect: (prompt: {
    readonly message: string;
    readonly options: readonly { readonly id: string; readonly label: string }[];
  }) => Promise<string | undefined>;
}
