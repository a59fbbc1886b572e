import type { ToolSpec } from '../model/request.ts';
import type { Schema } from '../protocol/check.ts';
import type { ContentBlock } from '../protocol/generated/vocabulary.ts';

/** What a tool shows: for the model, and `details` for people. */
export interface ToolOutput {
  readonly content: ContentBlock[];
  readonly details?: unknown;
  /** Nothing is left to do: where all tools of a turn say so, the model is not asked again for their sake. */
  readonly terminate?: boolean;
}

/** One call of a tool, its arguments checked. */
export interface ToolInvocation {
  readonly toolCallId: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Shows everything so far; each call replaces what the one before showed. */
  readonly update: (output: ToolOutput) => void;
}

/** Something the model may do. It throws `Error` to tell the model that it failed, and stops soon after the signal. */
export interface Tool extends ToolSpec {
  /** How the system prompt tells of it, if not by its description. */
  readonly promptSnippet?: string;
  /** What else the system prompt says when it is offered. */
  readonly promptGuidelines?: readonly string[];
  /** What arguments must fit, where that is not `parameters`. */
  readonly validationSchema?: Schema;
  /** Brings arguments that are meant well into the form that `parameters` demands. */
  readonly prepareArguments?: (args: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly execute: (invocation: ToolInvocation) => Promise<ToolOutput>;
}

/** What models accept as the name of a tool. */
export const isToolName = (name: unknown): name is string => typeof name === 'string' && /^[\w-]{1,64}$/.test(name);

export const textOutput = (text: string): ToolOutput => ({ content: [{ type: 'text', text }] });

/** A failure that shows more than its message, such as the output of a command that exited with an error. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly output: ToolOutput;

  constructor(output: ToolOutput) {
    super('tool failed');
    this.output = output;
  }
}
