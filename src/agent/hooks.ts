import type { ModelRequest, ToolSpec, WireResponse } from '../model/request.ts';
import type {
  AgentMessage,
  AssistantMessage,
  AssistantMessageEvent,
  CustomMessage,
  Model,
  ToolResultMessage,
  UserMessage,
} from '../protocol/generated/vocabulary.ts';
import type { MadeCall } from './nested-calls.ts';
import type { ToolOutput } from './tool.ts';

/**
 * Extension points of a run. The run awaits a hook before it stores and publishes the hook's subject, but never beyond
 * an abort of its signal. The returned value replaces the subject; `undefined` keeps it. A hook that rejects fails the
 * run unless stated below.
 */
export interface AgentHooks {
  /** Receives a copy of the conversation before the model call and may change it freely. */
  readonly context?: (messages: AgentMessage[], signal: AbortSignal) => Promise<readonly AgentMessage[] | undefined>;
  /** Receives a copy of the system prompt, the offered tools and the messages after `context`. */
  readonly requestContext?: (context: RequestContext, signal: AbortSignal) => Promise<RequestContext | undefined>;
  /** Receives the headers of the request with their secrets and may change them in place; null deletes one. */
  readonly requestHeaders?: (headers: Record<string, string | null>, signal: AbortSignal) => Promise<void>;
  /** Receives each response of the provider, with redacted secrets, before its body is read. */
  readonly responseStart?: (response: WireResponse, signal: AbortSignal) => Promise<void>;
  /** Receives each event of the provider's stream as the provider sent it, with redacted keys. */
  readonly streamEvent?: (event: { model: Model; data: unknown }, signal: AbortSignal) => Promise<void>;
  /** Runs last, on the whole request. */
  readonly beforeRequest?: (request: ModelRequest) => Promise<ModelRequest | undefined>;
  /** Receives a copy of the request body in the format of the provider's API. */
  readonly payload?: (payload: unknown, signal: AbortSignal) => Promise<unknown>;
  /**
   * Runs for each streamed step, `start` first. A hook without an interruption returns `undefined` synchronously, so
   * that no delta waits.
   */
  readonly delta?: (
    step: AssistantMessageEvent,
    signal: AbortSignal,
  ) => Interruption | undefined | Promise<Interruption | undefined>;
  /** Runs before a tool call. A rejection blocks the call. */
  readonly toolCall?: (call: MadeCall, signal: AbortSignal) => Promise<ToolVerdict | undefined>;
  /** Runs after a tool call. A rejection changes nothing. */
  readonly toolResult?: (ended: EndedCall, signal: AbortSignal) => Promise<ToolResult | undefined>;
  /** Runs for assistant messages, tool results and the user messages that a run takes. */
  readonly messageEnd?: <M extends AssistantMessage | ToolResultMessage | UserMessage>(
    message: M,
    signal: AbortSignal,
  ) => Promise<M | undefined>;
  readonly turnEnd?: (turn: EndedTurn, signal: AbortSignal) => Promise<Continuation | undefined>;
}

/** The parts of a request that hooks may replace. */
export interface RequestContext {
  readonly systemPrompt: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly AgentMessage[];
}

/** Interrupts a model response; the run continues with another model call after these messages. */
export interface Interruption {
  /** Becomes the error message of the interrupted assistant message. */
  readonly reason: string;
  readonly messages: readonly HookMessage[];
  /** Removes the interrupted message from the conversation, but not from the file. Otherwise it stays as aborted. */
  readonly discard?: boolean;
}

/** A message that a hook may add to the conversation. */
export type HookMessage = UserMessage | CustomMessage;

/** An assistant message with the results of its tool calls. */
export interface EndedTurn {
  readonly message: AssistantMessage;
  readonly toolResults: readonly ToolResultMessage[];
}

/** Messages to add before the run continues or ends, and whether it must continue. */
export interface Continuation {
  readonly messages?: readonly HookMessage[];
  readonly continue?: boolean;
}

/** Blocks a tool call, or sets its arguments. */
export type ToolVerdict =
  | { readonly block: string; readonly terminate?: boolean }
  | { readonly args: Record<string, unknown> };

export interface EndedCall {
  readonly call: MadeCall;
  /** The arguments of the call, or those that a hook put in their place. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly result: ToolResult;
}

export interface ToolResult extends ToolOutput {
  readonly isError: boolean;
  /** Absent if the tool did not run. */
  readonly durationMs?: number;
  /** The calls that the tool made. */
  readonly nestedCalls?: object;
}
