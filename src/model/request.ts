import type { Schema } from '../protocol/check.ts';
import type {
  AssistantMessage,
  Model,
  RunError,
  ThinkingLevel,
  ToolResultMessage,
  Usage,
  UserMessage,
} from '../protocol/generated/vocabulary.ts';
import type { Draft, DraftStep } from './draft.ts';

/** A tool as described to a model. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
}

/** The three roles that models support. All other messages are converted to one of them first. */
export type ModelMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** A call of a model. */
export interface ModelRequest {
  readonly model: Model;
  readonly thinkingLevel: ThinkingLevel;
  readonly systemPrompt: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** Servers find cached conversations by it. */
  readonly sessionId?: string;
  /** Limits the response further than the model does. */
  readonly maxTokens?: number;
  /** The user's token limits by thinking level. */
  readonly thinkingBudgets?: Readonly<Partial<Record<ThinkingLevel, number>>>;
  /** Gets the body before it is posted, and may return a replacement. */
  readonly onPayload?: (payload: unknown) => Promise<unknown>;
  readonly signal: AbortSignal;
}

/** Steps, usage updates and one end with the whole message. */
export type ModelEvent = DraftStep | UsageUpdate | ResponseEnd;

export interface UsageUpdate {
  readonly type: 'usage';
  readonly usage: Usage;
}

export interface ResponseEnd {
  readonly type: 'end';
  readonly message: AssistantMessage;
  /** Explains why the response failed and whether to retry. */
  readonly failure?: ModelFailure;
}

/**
 * Calls a model over one API kind: fills the draft and yields its steps, stops soon after `signal` aborts, and throws
 * `ModelFailure` for any failure of the provider.
 */
export type Provider = (request: ModelRequest, draft: Draft) => AsyncIterable<DraftStep | UsageUpdate>;

/** A model call that was rejected, interrupted or never answered. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly code: RunError;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: RunError, message: string, details: { status?: number; retryAfterMs?: number } = {}) {
    super(message);
    this.code = code;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}
