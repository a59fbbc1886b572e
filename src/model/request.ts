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
  /** `agent`: no user has sent the last message, such as for a summary. Some plans count only requests of users. */
  readonly initiator?: 'agent';
  /** Servers find cached conversations by it. */
  readonly sessionId?: string;
  /** Limits the response further than the model does. */
  readonly maxTokens?: number;
  /** The user's token limits by thinking level. */
  readonly thinkingBudgets?: Readonly<Partial<Record<ThinkingLevel, number>>>;
  /** Gets the body before it is posted, and may return a replacement. */
  readonly onPayload?: (payload: unknown) => Promise<unknown>;
  readonly wire?: WireObserver;
  /** A provider calls it when the server has begun to respond, at the latest with its first step. */
  readonly onOpen?: () => void;
  /** The virtual model that stands for `model`; the message then records the thinking level. */
  readonly routedFrom?: Model;
  readonly signal: AbortSignal;
}

/** Observes the HTTP exchange of one request. Nothing is built for a callback that is absent. */
export interface WireObserver {
  /** Gets the headers with their secrets, by lower-case name, before the body is built. Changes in place are sent; null deletes a header. */
  readonly onHeaders?: (headers: Record<string, string | null>) => Promise<void> | void;
  /** Gets each response, rejected or not. Keys and cookies are redacted. */
  readonly onResponse?: (response: WireResponse) => Promise<void> | void;
  /** Gets a copy of each parsed object of the stream, as the server sent it but for redacted keys. */
  readonly onStreamEvent?: (event: unknown) => Promise<void> | void;
}

/** The beginning of an HTTP response. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** At most one `response` when the server has begun to respond, then steps and usage updates; last the whole message. */
export type ModelEvent = ResponseStart | DraftStep | UsageUpdate | ResponseEnd;

export interface ResponseStart {
  readonly type: 'response';
}

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

/** A provider that throws the failure on the first read. */
export const failingProvider = (failure: ModelFailure): Provider =>
  // biome-ignore lint/correctness/useYield: it throws at once
  async function* () {
    throw failure;
  };
