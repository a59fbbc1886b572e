import type { Truncation } from '../../agent/tools/truncate.ts';
import type { ExtensionEvent } from './events.ts';

/** The arguments of the built-in tools, and of pi's tool for PowerShell. */
export interface BashToolInput {
  command: string;
  timeout?: number;
}

export type PowerShellToolInput = BashToolInput;

export interface ReadToolInput {
  path: string;
  offset?: number;
  limit?: number;
}

export interface EditToolInput {
  path: string;
  edits: { oldText: string; newText: string }[];
}

export interface WriteToolInput {
  path: string;
  content: string;
}

export interface GrepToolInput {
  pattern: string;
  path?: string;
  glob?: string;
  ignoreCase?: boolean;
  literal?: boolean;
  context?: number;
  limit?: number;
}

export interface FindToolInput {
  pattern: string;
  path?: string;
  limit?: number;
}

export interface LsToolInput {
  path?: string;
  limit?: number;
}

export interface BuiltinToolInputs {
  bash: BashToolInput;
  powershell: PowerShellToolInput;
  read: ReadToolInput;
  edit: EditToolInput;
  write: WriteToolInput;
  grep: GrepToolInput;
  find: FindToolInput;
  ls: LsToolInput;
}

export type BuiltinToolName = keyof BuiltinToolInputs;

/** The details of the results of the built-in tools. */
export interface BashToolDetails {
  truncation?: Truncation;
  fullOutputPath?: string;
}

export type PowerShellToolDetails = BashToolDetails;

export interface ReadToolDetails {
  truncation?: Truncation;
}

export interface EditToolDetails {
  diff: string;
  patch: string;
  firstChangedLine?: number;
}

export interface GrepToolDetails {
  truncation?: Truncation;
  matchLimitReached?: number;
  linesTruncated?: boolean;
}

export interface FindToolDetails {
  truncation?: Truncation;
  resultLimitReached?: number;
}

export interface LsToolDetails {
  truncation?: Truncation;
  entryLimitReached?: number;
}

interface BuiltinToolDetails {
  bash: BashToolDetails;
  powershell: PowerShellToolDetails;
  read: ReadToolDetails;
  edit: EditToolDetails;
  write: undefined;
  grep: GrepToolDetails;
  find: FindToolDetails;
  ls: LsToolDetails;
}

/** A `tool_call` event of a built-in tool. */
export type BuiltinToolCall<N extends BuiltinToolName> = ExtensionEvent<'tool_call'> & {
  toolName: N;
  input: BuiltinToolInputs[N];
};

/** A `tool_result` event of a built-in tool. */
export type BuiltinToolResult<N extends BuiltinToolName> = ExtensionEvent<'tool_result'> & {
  toolName: N;
  details: BuiltinToolDetails[N] | undefined;
};
