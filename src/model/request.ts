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
import type { Draft, MessageStep } from './draft.ts';

/** A tool as a model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
}

/** The three roles that models know. Everything else in a conversation is turned into one of them first. */
export type ModelMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** One question to a model. */
export interface ModelRequest {
  readonly model: Model;
  readonly thinkingLevel: ThinkingLevel;
  readonly systemPrompt: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** The session it is asked in: servers find what they have cached of a conversation by it. */
  readonly sessionId?: string;
  /** The longest answer that is wanted, where that is less than the model can give. */
  readonly maxTokens?: number;
  /** How many tokens a level of thinking may use, where the user says so. */
  readonly thinkingBudgets?: Readonly<Partial<Record<ThinkingLevel, number>>>;
  /** Sees the body just before it is posted; what it answers is posted in its place, unless that is undefined. */
  readonly onPayload?: (payload: unknown) => Promise<unknown>;
  readonly signal: AbortSignal;
}

/** What comes back: steps as they happen, changes of the usage, and one end that holds the whole message. */
export type ModelEvent = MessageStep | UsageUpdate | ResponseEnd;

export interface UsageUpdate {
  readonly type: 'usage';
  readonly usage: Usage;
}

export interface ResponseEnd {
  readonly type: 'end';
  readonly message: AssistantMessage;
  /** What a failed answer says about trying again. */
  readonly failure?: ModelFailure;
}

/**
 * Speaks one API kind. It fills the draft and yields the steps the draft gives back, stops soon after `signal` aborts,
 * and throws `ModelFailure` for whatever the provider refuses or breaks.
 */
export type Provider = (request: ModelRequest, draft: Draft) => AsyncIterable<MessageStep | UsageUpdate>;

/** A model that refused, broke off or never answered. */
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
