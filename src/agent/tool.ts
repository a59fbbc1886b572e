import type { ToolSpec } from '../model/request.ts';
import type { ContentBlock, ToolCall, Usage } from '../protocol/generated/vocabulary.ts';
import type { Permission } from './permission.ts';

/** Output of a tool: `content` for the model, `details` for people. */
export interface ToolOutput {
  readonly content: ContentBlock[];
  readonly details?: unknown;
  /** The output for programs that call the tool. */
  readonly structuredContent?: unknown;
  /** Tokens and cost of models that the tool itself called. */
  readonly usage?: Usage;
  /** Requests the end of the run: if all tools of a turn set it, no further model call follows. */
  readonly terminate?: boolean;
}

/** Progress of a running tool: the whole output so far. */
export interface ToolUpdate extends ToolOutput {
  /** The new text of an output that only grows, and its offset in bytes. */
  readonly added?: { readonly text: string; readonly offset: number };
}

/** A tool call with checked arguments. */
export interface ToolInvocation {
  readonly toolCallId: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Publishes progress; each call replaces the output of the previous one. */
  readonly update: (progress: ToolUpdate) => void;
  /** Absent if the tool runs outside a session. */
  readonly otherTools?: OtherTools;
  /** Limits of the call; absent: it may reach everything. */
  readonly permission?: Permission;
}

/** The tools that a running tool may call. */
export interface OtherTools {
  readonly all: () => readonly Tool[];
  /** Runs a tool with the checks and hooks of a call of the model. Never rejects for a failure of that tool. */
  readonly execute: (name: string, args: unknown, options?: NestedCallOptions) => Promise<NestedOutcome>;
}

/** How a tool calls another one. */
export interface NestedCallOptions {
  /** Aborts the call, as the abort of the calling tool does. */
  readonly signal?: AbortSignal;
  readonly update?: (progress: ToolUpdate) => void;
}

/** The end of a call that a tool made. */
export interface NestedOutcome {
  readonly toolCall: ToolCall;
  readonly result: ToolOutput;
  readonly isError: boolean;
  /** Absent if the tool did not run. */
  readonly durationMs?: number;
}

/**
 * How the model reaches a tool. `direct` and `model-only` tools are offered, `codemode` and `deferred` tools are called
 * by other tools unless a user or extension activates them, `hidden` tools are not reached at all. Other tools cannot
 * call `model-only` tools.
 */
export type ToolExposure = 'direct' | 'model-only' | 'codemode' | 'deferred' | 'hidden';

/**
 * A tool for the model. `execute` throws an `Error` to report a failure to the model, and stops soon after the signal.
 */
export interface Tool extends ToolSpec {
  /** Replaces the description in the system prompt. */
  readonly promptSnippet?: string;
  /** Lines added to the system prompt while the tool is active. */
  readonly promptGuidelines?: readonly string[];
  /** `sequential`: the calls of a message that contains a call of this tool run one after another. */
  readonly executionMode?: 'sequential' | 'parallel';
  /** By default `direct`. */
  readonly exposure?: ToolExposure;
  /** The group of the tool, such as its server. */
  readonly namespace?: object;
  /** Unverified hints of the author, with the meaning of MCP's tool annotations. */
  readonly annotations?: object;
  /** Returns the first problem of the arguments with its path. Without it they are checked against `parameters`. */
  readonly findProblem?: (args: Readonly<Record<string, unknown>>) => Promise<string | undefined>;
  /** Converts well-meant arguments to the form that `parameters` requires. */
  readonly prepareArguments?: (args: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly execute: (invocation: ToolInvocation) => Promise<ToolOutput>;
}

/** Whether model APIs accept this tool name. */
export const isToolName = (name: unknown): name is string => typeof name === 'string' && /^[\w-]{1,64}$/.test(name);

export const textOutput = (text: string): ToolOutput => ({ content: [{ type: 'text', text }] });

/** A failure with more output than its message, such as the output of a command that exited with an error. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly output: ToolOutput;

  constructor(output: ToolOutput) {
    super('tool failed');
    this.output = output;
  }
}
