import type {
  AgentMessage,
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  SessionEntry,
} from '../../protocol/generated/vocabulary.ts';
import { isForeignRole } from '../../store/sessions/entry-reader.ts';
import type { EntryNode, SessionLog } from '../../store/sessions/session-log.ts';

/** The messages of the conversation on a branch, after compactions and edits. */
export function contextOf(branch: readonly SessionEntry[]): AgentMessage[] {
  const edits = editsIn(branch);
  const firstKept = (compaction: SessionEntry) => (compaction as CompactionEntry).firstKeptEntryId;
  return sinceCompaction(branch, firstKept).flatMap((entry) => editedMessages(entry, edits));
}

/** Edits by the id of their target entry. */
type Edits = ReadonlyMap<string, ContextEditEntry>;

export const editsIn = (branch: readonly SessionEntry[]): Edits =>
  new Map(branch.flatMap((entry) => (entry.type === 'context_edit' ? [[entry.targetId, entry] as const] : [])));

/** Messages of an entry after edits: an edit removes them or replaces their content. */
export function editedMessages(entry: SessionEntry, edits: Edits): AgentMessage[] {
  const edit = edits.get(entry.id);
  if (edit?.replacement === null) return [];
  const messages = entryMessages(entry);
  return edit ? messages.map((message) => withContentOf(edit, message)) : messages;
}

// A file may hold anything: a replacement without content changes nothing.
function withContentOf({ replacement }: ContextEditEntry, message: AgentMessage): AgentMessage {
  const { content } = Object(replacement) as { content?: unknown };
  if (!isEditableRole(message.role) || (typeof content !== 'string' && !Array.isArray(content))) return message;
  return { ...message, content: contentFor(message.role, content) } as AgentMessage;
}

/** Whether an edit can replace the content of messages of this role. */
export const isEditableRole = (role: string | undefined): boolean =>
  role === 'user' || role === 'assistant' || role === 'toolResult' || role === 'custom';

/** Content in the form that messages of this role have: assistant messages and tool results hold blocks. */
export const contentFor = <B>(role: string | undefined, content: string | readonly B[]) =>
  typeof content === 'string' && (role === 'assistant' || role === 'toolResult')
    ? [{ type: 'text' as const, text: content }]
    : content;

/** The latest compaction, the entries it kept and those after it; the whole branch without a compaction. */
export function sinceCompaction<E extends { readonly id: string; readonly type: string }>(
  branch: readonly E[],
  firstKeptBy: (compaction: E) => string,
): E[] {
  const at = branch.findLastIndex((entry) => entry.type === 'compaction');
  const compaction = branch[at];
  if (!compaction) return [...branch];
  const firstKept = firstKeptBy(compaction);
  const first = branch.findIndex((entry) => entry.id === firstKept);
  // The latest summary includes older ones.
  const kept = first === -1 ? [] : branch.slice(first, at).filter(({ type }) => type !== 'compaction');
  return [compaction, ...kept, ...branch.slice(at + 1)];
}

/** Messages of an entry before edits. */
export function entryMessages(entry: SessionEntry): AgentMessage[] {
  const timestamp = Date.parse(entry.timestamp);
  switch (entry.type) {
    case 'message':
      return isForeignRole(entry.message.role) ? [] : [withoutForeignBlocks(entry.message)];
    case 'custom_message': {
      const { customType, content, display, details } = entry;
      return [
        { role: 'custom', customType, content, display, ...(details === undefined ? {} : { details }), timestamp },
      ];
    }
    case 'branch_summary':
      return entry.summary ? [{ role: 'branchSummary', summary: entry.summary, fromId: entry.fromId, timestamp }] : [];
    case 'compaction':
      return [{ role: 'compactionSummary', summary: entry.summary, tokensBefore: entry.tokensBefore, timestamp }];
    default:
      return [];
  }
}

/** The message without the blocks that only other programs write. */
function withoutForeignBlocks<M extends AgentMessage>(message: M): M {
  const { content } = message as { content?: unknown };
  if (!Array.isArray(content) || !content.some(isForeignBlock)) return message;
  return { ...message, content: content.filter((block) => !isForeignBlock(block)) };
}

const isForeignBlock = ({ type }: { readonly type?: unknown }) => type === 'tool_use' || type === 'tool_result';

/** The length of `contextOf`, computed almost without reading entries. */
export function countContext(log: SessionLog): number {
  const [rewritten] = log.nodesOfKind('compaction', 'context_edit');
  if (rewritten) return countRewritten(log);
  const summaries = [...log.nodesOfKind('branch_summary')].filter((node) => addsMessage(node, log));
  // A custom entry may have the name of a role.
  const foreign = [...log.nodesOfKind('system', 'tool')].filter(({ type }) => type === 'message');
  return log.count('message') - foreign.length + log.count('custom_message') + summaries.length;
}

function countRewritten(log: SessionLog): number {
  let count = 0;
  let compacted: { readonly until: string; readonly count: number } | undefined;
  for (const node of log.nodes()) {
    if (node.type === 'context_edit') return contextOf(log.branch()).length;
    if (node.type === 'compaction' && !compacted) {
      const { firstKeptEntryId: until } = log.entry(node.id) as CompactionEntry;
      compacted = { until, count: ++count };
    } else if (addsMessage(node, log)) count++;
    if (node.id === compacted?.until) return count;
  }
  return compacted?.count ?? count;
}

/** Whether an entry adds a message by itself; a compaction only counts at its own position. */
export function addsMessage({ id, type, role }: EntryNode, log: SessionLog): boolean {
  if (type === 'branch_summary') return (log.entry(id) as BranchSummaryEntry).summary !== '';
  return type === 'custom_message' || (type === 'message' && !isForeignRole(role));
}
