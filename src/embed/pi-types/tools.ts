import type { FileToolOperations } from '../../extend/extensions/api/bash-backend.ts';
import type {
  ExtensionToolContext,
  ExtensionToolResult,
  ToolDefinition,
} from '../../extend/extensions/extension-api.ts';
import type { BashToolOptions } from '../../extend/extensions/pi-shims/coding-agent/bash-tool.ts';
import type { FileToolOptions } from '../../extend/extensions/pi-shims/coding-agent/tools.ts';
import type { TerminalObject } from '../../extend/extensions/terminal-api.ts';
import type { SourceInfo } from '../resources/load-extensions.ts';

export type { ToolExposure } from '../../agent/tool.ts';
export type { Truncation as TruncationResult } from '../../agent/tools/truncate.ts';
export type { BashOperations } from '../../extend/extensions/api/bash-backend.ts';
export type { ToolAnnotations, ToolNamespace } from '../../extend/extensions/extension-api.ts';
export type { BashToolOptions } from '../../extend/extensions/pi-shims/coding-agent/bash-tool.ts';
export type { ResizedImage } from '../../extend/extensions/pi-shims/coding-agent/images.ts';
export type {
  BashToolDetails,
  BashToolInput,
  EditToolDetails,
  EditToolInput,
  FindToolDetails,
  FindToolInput,
  GrepToolDetails,
  GrepToolInput,
  LsToolDetails,
  LsToolInput,
  PowerShellToolDetails,
  PowerShellToolInput,
  ReadToolDetails,
  ReadToolInput,
  WriteToolInput,
} from '../../extend/extensions/tool-inputs.ts';

/** Pi's names of the parts of tools. */
export type AgentToolResult<T = unknown> = ExtensionToolResult<T>;
export type AgentToolUpdateCallback<T = unknown> = (partialResult: AgentToolResult<T>) => void;
export type ToolExecutionMode = NonNullable<ToolDefinition['executionMode']>;
export type ExecuteToolOptions = NonNullable<Parameters<ExtensionToolContext['executeTool']>[2]>;
export type TruncationOptions = { maxLines?: number; maxBytes?: number };

export interface RegisteredTool {
  definition: ToolDefinition;
  sourceInfo: SourceInfo;
}

export interface ToolLoadout {
  readonly declared: readonly object[];
  readonly callable: readonly object[];
  readonly registered: readonly object[];
}

export interface ToolLoadoutChanges {
  descriptions?: Readonly<Record<string, string>>;
  hiddenDeclarations?: readonly string[];
}

export interface EditDiffResult {
  diff: string;
  firstChangedLine: number | undefined;
}

export type BashSpawnHook = NonNullable<BashToolOptions['spawnHook']>;
export type BashSpawnContext = Parameters<BashSpawnHook>[0];
export type ReadOperations = Pick<FileToolOperations, 'readFile' | 'access' | 'detectImageMimeType'>;
export type EditOperations = Pick<FileToolOperations, 'readFile' | 'writeFile' | 'access'>;
export type WriteOperations = Pick<FileToolOperations, 'writeFile' | 'mkdir'>;
export type ReadToolOptions = FileToolOptions;
export type EditToolOptions = FileToolOptions;
export type WriteToolOptions = FileToolOptions;

/** tau's tools for search look at files of this machine only, and it has none for PowerShell. */
export type FindOperations = TerminalObject;
export type GrepOperations = TerminalObject;
export type LsOperations = TerminalObject;
export type FindToolOptions = { operations?: FindOperations };
export type GrepToolOptions = { operations?: GrepOperations };
export type LsToolOptions = { operations?: LsOperations };
export type PowerShellOperations = TerminalObject;
export type PowerShellSpawnContext = BashSpawnContext;
export type PowerShellSpawnHook = BashSpawnHook;
export type PowerShellToolOptions = TerminalObject;

export interface ToolsOptions {
  read?: ReadToolOptions;
  bash?: BashToolOptions;
  powershell?: PowerShellToolOptions;
  edit?: EditToolOptions;
  write?: WriteToolOptions;
  grep?: GrepToolOptions;
  find?: FindToolOptions;
  ls?: LsToolOptions;
}
