import { Refusal } from '../../protocol/errors.ts';
import type {
  AgentMessage,
  CompactionEntry,
  ContextEditEntry,
  Params,
  Result,
} from '../../protocol/generated/vocabulary.ts';
import type { EntryNode, SessionLog } from '../../store/sessions/session-log.ts';
import { addsMessage, countContext, editedMessages, sinceCompaction } from './context.ts';

// Messages per page by default.
const DEFAULT_LIMIT = 100;

/** A page ends before the message that would exceed this size as JSON; it holds at least one message. */
export const MAX_MESSAGE_PAGE_BYTES = 256 * 1024;

// Index of the conversation that pages are cut from.
interface Overview {
  // The overview is rebuilt when the leaf changes.
  readonly leafId: string | null;
  readonly edits: Edits;
  // The compaction that starts the conversation, or ''.
  readonly compactionId: string;
  readonly conversation: Sequence;
  // Messages before that compaction that it did not keep.
  readonly replaced: Sequence;
}

interface Sequence {
  readonly nodes: readonly EntryNode[];
  readonly indexes: ReadonlyMap<string, number>;
}

/**
 * Pages of the conversation, read without the rest of it.
 *
 * A cursor names the entry next to the following page and the compaction that starts the conversation: appended entries
 * do not move it, and a later compaction invalidates it.
 */
export class MessagePages {
  readonly #log: SessionLog;
  #cached: Overview | undefined;

  constructor(log: SessionLog) {
    this.#log = log;
  }

  page({ cursor, limit = DEFAULT_LIMIT, from = 'start', replaced = false }: PageRequest): PageResult {
    if (cursor === undefined && from === 'end' && !replaced && this.#isUnedited) return this.#lastPage(limit);
    const overview = this.#overview();
    const { edits, compactionId } = overview;
    const { nodes, indexes } = replaced ? overview.replaced : overview.conversation;
    const at = cursor === undefined ? undefined : indexAtCursor(cursor, compactionId, indexes);
    const page = from === 'start' ? pageAfter(at, nodes, limit) : pageBefore(at, nodes, limit);
    return this.#result(page, { edits, compactionId, from, total: nodes.length });
  }

  /** Whether no compaction or edit changed the conversation. */
  get #isUnedited(): boolean {
    const [rewritten] = this.#log.nodesOfKind('compaction', 'context_edit');
    return rewritten === undefined;
  }

  /** The last page of an unedited conversation, read without an overview. */
  #lastPage(limit: number): PageResult {
    const nodes: EntryNode[] = [];
    for (const node of this.#log.nodes()) {
      if (addsMessage(node, this.#log)) nodes.push(node);
      if (nodes.length > limit) break;
    }
    const page = pageBefore(undefined, nodes.reverse(), limit);
    return this.#result(page, { edits: new Map(), compactionId: '', from: 'end', total: countContext(this.#log) });
  }

  #result(page: Page, { edits, compactionId, from, total }: ResultContext): PageResult {
    const isFromStart = from === 'start';
    const read: AgentMessage[][] = [];
    let next = page.next;
    let bytes = 0;
    for (const node of isFromStart ? page.nodes : page.nodes.toReversed()) {
      const messages = messagesAt(node, this.#log, edits);
      bytes += jsonBytes(messages);
      if (bytes > MAX_MESSAGE_PAGE_BYTES && read.length > 0) {
        next = isFromStart ? page.nodes[read.length - 1] : page.nodes.at(-read.length);
        break;
      }
      read.push(messages);
    }
    return {
      messages: (isFromStart ? read : read.reverse()).flat(),
      ...(next ? { nextCursor: `${compactionId}/${next.id}` } : {}),
      totalMessages: total,
    };
  }

  #overview(): Overview {
    const { leafId } = this.#log;
    if (this.#cached?.leafId === leafId) return this.#cached;
    const edits = editsIn(this.#log);
    const branch = [...this.#log.nodes()].reverse();
    const conversation = conversationIn(branch, this.#log, edits);
    const [first] = conversation;
    this.#cached = {
      leafId,
      edits,
      compactionId: first?.type === 'compaction' ? first.id : '',
      conversation: sequence(conversation),
      replaced: sequence(replacedIn(branch, this.#log, edits)),
    };
    return this.#cached;
  }
}

// The fields of a page beside its messages, and its direction.
interface ResultContext {
  readonly edits: Edits;
  readonly compactionId: string;
  readonly from: 'start' | 'end';
  readonly total: number;
}

type PageRequest = Params<'get_messages_page'>;

type PageResult = Result<'get_messages_page'>;

const sequence = (nodes: readonly EntryNode[]): Sequence => ({
  nodes,
  indexes: new Map(nodes.map(({ id }, index) => [id, index])),
});

type Edits = ReadonlyMap<string, ContextEditEntry>;

/** The entries that `contextOf` turns into messages, in its order, almost without reading them. */
function conversationIn(branch: readonly EntryNode[], log: SessionLog, edits: Edits): EntryNode[] {
  return sinceCompaction(branch, firstKeptId(log)).filter((node) => isInConversation(node, log, edits));
}

/** Entries before the first one that the last compaction kept, including earlier summaries. */
function replacedIn(branch: readonly EntryNode[], log: SessionLog, edits: Edits): EntryNode[] {
  const at = branch.findLastIndex(({ type }) => type === 'compaction');
  const compaction = branch[at];
  if (!compaction) return [];
  const firstKept = firstKeptId(log)(compaction);
  const end = branch.slice(0, at).findIndex(({ id }) => id === firstKept);
  return branch.slice(0, end === -1 ? at : end).filter((node) => isInConversation(node, log, edits));
}

const firstKeptId =
  (log: SessionLog) =>
  ({ id }: EntryNode) =>
    (log.entry(id) as CompactionEntry).firstKeptEntryId;

function isInConversation(node: EntryNode, log: SessionLog, edits: Edits): boolean {
  return edits.get(node.id)?.replacement !== null && (node.type === 'compaction' || addsMessage(node, log));
}

/** The latest edit of each entry. */
function editsIn(log: SessionLog): Edits {
  const edits = [...log.nodesOfKind('context_edit')].map(({ id }) => log.entry(id) as ContextEditEntry);
  return new Map(edits.reverse().map((edit) => [edit.targetId, edit]));
}

function messagesAt({ id }: EntryNode, log: SessionLog, edits: Edits): AgentMessage[] {
  const entry = log.entry(id);
  return entry ? editedMessages(entry, edits) : [];
}

/** The size of messages as part of a JSON list. */
const jsonBytes = (messages: readonly AgentMessage[]) =>
  messages.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)) + 1, 0);

interface Page {
  readonly nodes: readonly EntryNode[];
  /** The entry next to the following page; undefined on the last page. */
  readonly next: EntryNode | undefined;
}

function pageAfter(at: number | undefined, nodes: readonly EntryNode[], limit: number): Page {
  const start = at === undefined ? 0 : at + 1;
  const page = nodes.slice(start, start + limit);
  return { nodes: page, next: start + page.length < nodes.length ? page.at(-1) : undefined };
}

function pageBefore(end = Infinity, nodes: readonly EntryNode[], limit: number): Page {
  const start = Math.max(0, Math.min(end, nodes.length) - limit);
  const page = nodes.slice(start, end);
  return { nodes: page, next: start > 0 ? page[0] : undefined };
}

function indexAtCursor(cursor: string, compactionId: string, indexes: ReadonlyMap<string, number>): number {
  const [cursorCompactionId, ...id] = cursor.split('/');
  const at = cursorCompactionId === compactionId ? indexes.get(id.join('/')) : undefined;
  if (at === undefined) {
    throw new Refusal('not_found', 'The conversation is no longer the one that this cursor was made for');
  }
  return at;
}
