import type { AgentMessage, Params, Result } from '../../protocol/generated/vocabulary.ts';

/** The parameters that fetch the page before the loaded messages of a conversation. */
export type PageRequest = Readonly<Params<'get_messages_page'>>;

/** The loaded end of a conversation, and how to fetch the messages before it. */
export interface MessageHistory {
  readonly messages: readonly AgentMessage[];
  /** Messages loaded before the last snapshot and missing in it; the next pages confirm or replace them. */
  readonly unconfirmed: readonly AgentMessage[];
  /** Fetches the page before `messages`; undefined at the start of the conversation, or before the first snapshot. */
  readonly earlier: PageRequest | undefined;
}

export const emptyHistory: MessageHistory = { messages: [], unconfirmed: [], earlier: undefined };

/** Puts a fetched page before the confirmed messages; a page of an outdated request changes nothing. */
export function prependPage<K extends MessageHistory>(
  history: K,
  request: PageRequest,
  page: Result<'get_messages_page'>,
): K {
  if (history.earlier !== request) return history;
  const earlier = requestBefore(page.messages, page.nextCursor, request.replaced);
  const { messages, unconfirmed } = confirm(page.messages, history.unconfirmed, earlier);
  return { ...history, messages: [...messages, ...history.messages], unconfirmed, earlier };
}

/** Applies a snapshot. Known messages keep their identity, and those before its first message stay unconfirmed. */
export function mergeSnapshot(
  history: MessageHistory,
  snapshot: { messages: readonly AgentMessage[]; cursor?: string | undefined },
): MessageHistory {
  const earlier = requestBefore(snapshot.messages, snapshot.cursor);
  return { ...confirm(snapshot.messages, [...history.unconfirmed, ...history.messages], earlier), earlier };
}

/** The request for the page before these messages. Messages that a summary replaced can still be read. */
function requestBefore(
  [first]: readonly AgentMessage[],
  cursor: string | undefined,
  replaced = false,
): PageRequest | undefined {
  if (cursor !== undefined) return { from: 'end', cursor, ...(replaced ? { replaced } : {}) };
  return first?.role === 'compactionSummary' && !replaced ? { from: 'end', replaced: true } : undefined;
}

/** Splits known messages into those that were received again and those that may precede them. */
function confirm(
  received: readonly AgentMessage[],
  known: readonly AgentMessage[],
  earlier: PageRequest | undefined,
): Pick<MessageHistory, 'messages' | 'unconfirmed'> {
  const candidates = new KnownMessages(known);
  const messages = received.toReversed().map((message) => candidates.takeLastMatch(message) ?? message);
  const overlaps = earlier !== undefined && candidates.end < known.length;
  return { messages: messages.reverse(), unconfirmed: overlaps ? known.slice(0, candidates.end) : [] };
}

/** Matches received messages against known ones, from the last to the first. */
class KnownMessages {
  readonly #known: readonly AgentMessage[];
  /** The JSON of known messages, filled on demand. */
  readonly #serialized: string[] = [];
  #end: number;

  constructor(known: readonly AgentMessage[]) {
    this.#known = known;
    this.#end = known.length;
  }

  /** Known messages before this index are still unmatched. */
  get end(): number {
    return this.#end;
  }

  /** Returns the last unmatched known message that equals this one, and skips those after it. */
  takeLastMatch(message: AgentMessage): AgentMessage | undefined {
    const { role, timestamp } = message;
    const serialized = JSON.stringify(message);
    for (let index = this.#end - 1; index >= 0; index--) {
      const known = this.#known[index];
      if (known?.role !== role || known.timestamp !== timestamp) continue;
      this.#serialized[index] ??= JSON.stringify(known);
      if (this.#serialized[index] !== serialized) continue;
      this.#end = index;
      return known;
    }
    return undefined;
  }
}
