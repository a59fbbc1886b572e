import { ContentBlocks } from './content.ts';
import { AgentMessage, Usage } from './messages.ts';
import { count, flag, list, literal, nullable, object, optional, reference, text, union, unknown } from './schema.ts';

const base = (type: string) => ({
  type: literal(type),
  id: text(),
  parentId: nullable(text()),
  timestamp: text('ISO 8601.'),
});

/** Entries of a session file and its header. */
export const SessionHeader = object(
  {
    type: literal('session'),
    version: optional(count('Absent in version 1.')),
    id: text(),
    timestamp: text('ISO 8601.'),
    cwd: text(),
    parentSession: optional(text()),
  },
  'SessionHeader',
  'The first line of a session file.',
);

export const MessageEntry = object(
  {
    ...base('message'),
    clientMessageId: optional(text('Identifies a prompt that is sent again.')),
    queueId: optional(text('The queued item that this message delivers.')),
    message: AgentMessage,
  },
  'MessageEntry',
);

export const ModelChangeEntry = object(
  { ...base('model_change'), provider: text(), modelId: text() },
  'ModelChangeEntry',
);

export const ThinkingLevelChangeEntry = object(
  { ...base('thinking_level_change'), thinkingLevel: text() },
  'ThinkingLevelChangeEntry',
);

export const CompactionEntry = object(
  {
    ...base('compaction'),
    summary: text(),
    firstKeptEntryId: text(),
    tokensBefore: count(),
    details: optional(unknown()),
    fromHook: optional(flag()),
    usage: optional(Usage),
    systemMessage: optional(unknown()),
  },
  'CompactionEntry',
);

export const BranchSummaryEntry = object(
  {
    ...base('branch_summary'),
    fromId: text(),
    summary: text(),
    details: optional(unknown()),
    fromHook: optional(flag()),
    usage: optional(Usage),
  },
  'BranchSummaryEntry',
);

export const CustomEntry = object({ ...base('custom'), customType: text(), data: optional(unknown()) }, 'CustomEntry');

export const CustomMessageEntry = object(
  {
    ...base('custom_message'),
    customType: text(),
    content: union([text(), ContentBlocks]),
    display: flag(),
    details: optional(unknown()),
  },
  'CustomMessageEntry',
);

export const LabelEntry = object({ ...base('label'), targetId: text(), label: optional(text()) }, 'LabelEntry');

export const SessionInfoEntry = object({ ...base('session_info'), name: optional(text()) }, 'SessionInfoEntry');

export const UsageEntry = object(
  { ...base('usage'), kind: text(), provider: text(), model: text(), usage: Usage, note: optional(text()) },
  'UsageEntry',
);

export const ContextEditEntry = object(
  { ...base('context_edit'), targetId: text(), replacement: unknown() },
  'ContextEditEntry',
);

export const knownEntries = [
  MessageEntry,
  ModelChangeEntry,
  ThinkingLevelChangeEntry,
  CompactionEntry,
  BranchSummaryEntry,
  CustomEntry,
  CustomMessageEntry,
  LabelEntry,
  SessionInfoEntry,
  UsageEntry,
  ContextEditEntry,
];

export const SessionEntry = union(
  knownEntries,
  'SessionEntry',
  'A line of a session file. Entries of unknown types stay on disk and are passed on unchanged.',
);

export const TreeNode = object(
  {
    entry: SessionEntry,
    children: list(reference('TreeNode')),
    label: optional(text()),
    labelTimestamp: optional(text()),
  },
  'TreeNode',
);
