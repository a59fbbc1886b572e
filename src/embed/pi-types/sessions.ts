import type { buildSessionProjection } from '../../extend/extensions/api/session-entries.ts';
import type {
  collectEntriesForBranchSummary,
  findCutPoint,
  PiBranchSummaryOptions,
  prepareBranchEntries,
} from '../../extend/extensions/pi-shims/coding-agent/summaries.ts';
import type {
  AssistantMessage,
  CommandName,
  ContentBlock,
  ExtensionUiRequestEvent,
  ExtensionUiResponse,
  MessageEntry,
  Params,
  SessionEntry,
  SessionHeader,
  SessionState,
  Usage,
} from '../../protocol/generated/vocabulary.ts';
import type { AgentSessionEvent } from '../session-events.ts';

export type { ProjectedSessionEntry, SessionContext } from '../../extend/extensions/api/session-entries.ts';
export type { TreeNode as SessionTreeNode } from '../../extend/extensions/api/session-view.ts';
export type { FileOperations } from '../../session/compaction/files.ts';

/** Pi's names of the parts of sessions, of summaries and of the protocol. */
export interface SessionEntryBase {
  type: string;
  id: string;
  parentId: string | null;
  timestamp: string;
}

export type SessionMessageEntry = MessageEntry;
export type FileEntry = SessionHeader | SessionEntry;
export type SessionProjection = ReturnType<typeof buildSessionProjection>;
export type ContextEditableContent = string | ContentBlock[] | AssistantMessage['content'];

export type BranchPreparation = ReturnType<typeof prepareBranchEntries>;
export type CollectEntriesResult = ReturnType<typeof collectEntriesForBranchSummary>;
export type CutPointResult = ReturnType<typeof findCutPoint>;
export type GenerateBranchSummaryOptions = PiBranchSummaryOptions;

export interface BranchSummaryResult {
  summary?: string;
  usage?: Usage;
  readFiles?: string[];
  modifiedFiles?: string[];
  aborted?: boolean;
  error?: string;
}

export type JsonAgentSessionEvent = AgentSessionEvent;
export type RpcEventListener = (event: JsonAgentSessionEvent) => void;
export type RpcCommand = { [C in CommandName]: { type: C; id?: string } & Params<C> }[CommandName];
export type RpcExtensionUIRequest = ExtensionUiRequestEvent;
export type RpcExtensionUIResponse = ExtensionUiResponse;
export type RpcSessionState = SessionState;

export type RpcResponse = { type: 'response'; id?: string; command: string } & (
  | { success: true; data?: unknown }
  | { success: false; error: string }
);
