import type { ModelMessage, ModelRequest } from '../model/request.ts';
import type {
  AgentMessage,
  AssistantMessage,
  AssistantMessageEvent,
  ToolCall,
  ToolResultMessage,
} from '../protocol/generated/vocabulary.ts';
import type { ToolOutput } from './tool.ts';

/**
 * Where others may step into a run. A hook that is absent does nothing and costs nothing; one that is there is awaited
 * before its subject is stored and published. Hooks do not reject: whoever implements them tells failures as events. What it returns replaces its subject; `undefined` keeps it.
 */
export interface AgentHooks {
  /** The messages that go to the model. */
  readonly context?: (messages: readonly ModelMessage[]) => Promise<readonly ModelMessage[] | undefined>;
  /** The whole request, last. */
  readonly beforeRequest?: (request: ModelRequest) => Promise<ModelRequest | undefined>;
  /** A step of the answer. Returning a reason breaks the answer off; the run goes on with another one. Not called yet. */
  readonly delta?: (step: AssistantMessageEvent) => Promise<{ interrupt: string } | undefined>;
  readonly toolCall?: (call: ToolCall) => Promise<ToolVerdict | undefined>;
  readonly toolResult?: (call: ToolCall, result: ToolResult) => Promise<ToolResult | undefined>;
  readonly messageEnd?: (message: AgentMessage) => Promise<AgentMessage | undefined>;
  readonly turnEnd?: (message: AssistantMessage, toolResults: readonly ToolResultMessage[]) => Promise<void>;
}

/** Whether a call may go ahead, and with which arguments. */
export type ToolVerdict = { readonly block: string } | { readonly args: Record<string, unknown> };

export interface ToolResult extends ToolOutput {
  readonly isError: boolean;
}
