import type { ToolSpec } from '../model/request.ts';
import type { ContentBlock } from '../protocol/generated/vocabulary.ts';

/** Output of a tool: `content` for the model, `details` for people. */
export interface ToolOutput {
  readonly content: ContentBlock[];
  readonly details?: unknown;
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
}

/**
 * A tool for the model. `execute` throws an `Error` to report a failure to the model, and stops soon after the signal.
 */
export interface Tool extends ToolSpec {
  /** Replaces the description in the system prompt. */
  readonly promptSnippet?: string;
  /** Lines added to the system prompt while the tool is active. */
  readonly promptGuidelines?: readonly string[];
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
