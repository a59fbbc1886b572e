import { Refusal } from '../protocol/errors.ts';
import type { AgentMessage, CompactionEntry, ContextEditEntry, Result } from '../protocol/generated/vocabulary.ts';
import type { EntryNode, SessionLog } from '../store/sessions/session-log.ts';
import { isSaid, saidBy, sinceCompaction } from './context.ts';

/** Messages of a page when nobody says how many. */
const USUAL_LIMIT = 100;

/**
 * A page of the conversation, the oldest messages first, read without the rest of it.
 *
 * A cursor names the last entry of its page and the compaction that the page was made under: what is appended later
 * does not move it, and where the beginning of the conversation became another one it leads nowhere.
 */
export function messagePage(
  log: SessionLog,
  { cursor, limit = USUAL_LIMIT }: { cursor?: string | undefined; limit?: number | undefined },
): Result<'get_messages_page'> {
  const edits = editsIn(log);
  const nodes = conversationIn(log, edits);
  const start = cursor === undefined ? 0 : startAfter(cursor, nodes);
  const page = nodes.slice(start, start + limit);
  const last = page.at(-1);
  const hasMore = start + page.length < nodes.length;
  return {
    messages: page.flatMap((node) => messageAt(node, log, edits)),
    ...(last && hasMore ? { nextCursor: cursorAt(last, nodes) } : {}),
    totalMessages: nodes.length,
  };
}

type Edits = ReadonlyMap<string, ContextEditEntry>;

/** The entries that `contextOf` would make messages of, in its order, reading hardly any. */
function conversationIn(log: SessionLog, edits: Edits): EntryNode[] {
  const firstKept = ({ id }: EntryNode) => (log.entry(id) as CompactionEntry).firstKeptEntryId;
  return sinceCompaction([...log.nodes()].reverse(), firstKept).filter((node) => {
    const edit = edits.get(node.id);
    return edit ? edit.replacement !== null : node.type === 'compaction' || isSaid(node, log);
  });
}

/** The latest edit of each entry. */
function editsIn(log: SessionLog): Edits {
  const edits = [...log.named('context_edit')].map(({ id }) => log.entry(id) as ContextEditEntry);
  return new Map(edits.reverse().map((edit) => [edit.targetId, edit]));
}

function messageAt({ id }: EntryNode, log: SessionLog, edits: Edits): AgentMessage[] {
  const edit = edits.get(id);
  if (edit) return [edit.replacement as AgentMessage];
  const entry = log.entry(id);
  return entry ? saidBy(entry) : [];
}

const cursorAt = ({ id }: EntryNode, nodes: readonly EntryNode[]) => `${basisOf(nodes)}/${id}`;

/** What the conversation begins with, if that is a summary. */
const basisOf = ([first]: readonly EntryNode[]) => (first?.type === 'compaction' ? first.id : '');

function startAfter(cursor: string, nodes: readonly EntryNode[]): number {
  const [basis, ...id] = cursor.split('/');
  const at = basis === basisOf(nodes) ? nodes.findIndex((node) => node.id === id.join('/')) : -1;
  if (at === -1) throw new Refusal('not_found', 'The conversation is no longer the one that this cursor was made for');
  return at + 1;
}
