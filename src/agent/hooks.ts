import type { ModelRequest } from '../model/request.ts';
import type {
  AgentMessage,
  AssistantMessage,
  AssistantMessageEvent,
  CustomMessage,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from '../protocol/generated/vocabulary.ts';
import type { ToolOutput } from './tool.ts';

/**
 * Where others may step into a run. A hook that is absent does nothing and costs nothing. One that is there is awaited
 * before its subject is stored and published, but not beyond an abort: its signal tells it that nobody waits any more.
 * What it returns replaces its subject; `undefined` keeps it. A hook that rejects fails the run, except where a line
 * below says otherwise.
 */
export interface AgentHooks {
  /** The conversation that the model is told: a copy, in which it may change what it likes. */
  readonly context?: (messages: AgentMessage[], signal: AbortSignal) => Promise<readonly AgentMessage[] | undefined>;
  /** The whole request, last. */
  readonly beforeRequest?: (request: ModelRequest) => Promise<ModelRequest | undefined>;
  /** The body that is about to be posted to a provider: a copy, in the words of its API. */
  readonly payload?: (payload: unknown, signal: AbortSignal) => Promise<unknown>;
  /** A step of the answer, `start` first; answers nothing at once where it has nothing to say, so that no delta waits. */
  readonly delta?: (
    step: AssistantMessageEvent,
    signal: AbortSignal,
  ) => Interruption | undefined | Promise<Interruption | undefined>;
  /** A call that is about to run. One that rejects blocks the call. */
  readonly toolCall?: (call: ToolCall, signal: AbortSignal) => Promise<ToolVerdict | undefined>;
  /** What a call came to. One that rejects changes nothing. */
  readonly toolResult?: (ended: EndedCall, signal: AbortSignal) => Promise<ToolResult | undefined>;
  /** A message of the agent: an answer or the result of a tool. What clients say passes through `input` instead. */
  readonly messageEnd?: <M extends AssistantMessage | ToolResultMessage>(
    message: M,
    signal: AbortSignal,
  ) => Promise<M | undefined>;
  readonly turnEnd?: (turn: EndedTurn, signal: AbortSignal) => Promise<Continuation | undefined>;
}

/** Breaks an answer off; the run goes on with another one, asked for after these messages. */
export interface Interruption {
  /** The error message of the answer that was broken off. */
  readonly reason: string;
  readonly messages: readonly HookMessage[];
  /** The answer leaves the conversation, though not the file. Otherwise it stays, as one that broke off. */
  readonly discard?: boolean;
}

/** What a hook may have said in the conversation. */
export type HookMessage = UserMessage | CustomMessage;

/** One answer with what its tools came to. */
export interface EndedTurn {
  readonly message: AssistantMessage;
  readonly toolResults: readonly ToolResultMessage[];
}

/** What is to be said before the run goes on or ends, and whether it must go on. */
export interface Continuation {
  readonly messages?: readonly HookMessage[];
  readonly continue?: boolean;
}

/** Whether a call may go ahead, and with which arguments. */
export type ToolVerdict = { readonly block: string } | { readonly args: Record<string, unknown> };

export interface EndedCall {
  readonly call: ToolCall;
  /** What the tool was given: those of the call, unless a hook replaced them. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly result: ToolResult;
}

export interface ToolResult extends ToolOutput {
  readonly isError: boolean;
}
