import type { CompactionEntry, SessionEntry } from '../../protocol/generated/vocabulary.ts';

type WithoutPosition<E> = E extends SessionEntry ? Omit<E, 'id' | 'parentId' | 'timestamp'> : never;

/** An entry before it has a position in the tree. A compaction without a first kept entry keeps none before it. */
export type EntryDraft =
  | WithoutPosition<SessionEntry>
  | (Omit<WithoutPosition<CompactionEntry>, 'firstKeptEntryId'> & { firstKeptEntryId: null });

interface EntryPosition {
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
}

// pi's field order makes files comparable and lets the index read only the start of a line.
const fieldOrder: Readonly<Record<SessionEntry['type'], readonly string[]>> = {
  message: ['clientMessageId', 'queueId', 'message'],
  model_change: ['provider', 'modelId'],
  thinking_level_change: ['thinkingLevel'],
  compaction: ['summary', 'firstKeptEntryId', 'tokensBefore', 'details', 'usage', 'fromHook'],
  branch_summary: ['fromId', 'summary', 'details', 'usage', 'fromHook'],
  custom: ['customType', 'data'],
  custom_message: ['customType', 'content', 'display', 'details'],
  label: ['targetId', 'label'],
  session_info: ['name'],
  usage: ['kind', 'provider', 'model', 'usage'],
  context_edit: ['targetId', 'replacement'],
};

/** Builds the entry of a draft, with its fields in file order. */
export function buildEntry(draft: EntryDraft, { id, parentId, timestamp }: EntryPosition): SessionEntry {
  const { type, ...given } = draft;
  const fields = inOrder(given, fieldOrder[type] ?? []);
  // As in pi, such a compaction names itself.
  if (type === 'compaction') fields['firstKeptEntryId'] ??= id;
  const position = { id, parentId, timestamp };
  const entry =
    type === 'custom' || type === 'custom_message' ? { ...fields, ...position } : { ...position, ...fields };
  return { type, ...entry } as SessionEntry;
}

function inOrder(given: Readonly<Record<string, unknown>>, order: readonly string[]): Record<string, unknown> {
  const names = new Set([...order, ...Object.keys(given)]);
  return Object.fromEntries([...names].filter((name) => given[name] !== undefined).map((name) => [name, given[name]]));
}
