import type { AgentMessage, Params, Result } from '../protocol/generated/vocabulary.ts';

/** What the messages before those that are known are asked for with. */
export type PageRequest = Readonly<Params<'get_messages_page'>>;

/** What is known of a conversation: its end, and how to come by what was said before. */
export interface MessageHistory {
  readonly messages: readonly AgentMessage[];
  /**
   * What was known before the messages of a snapshot, and is not told by it. A summary or an edit may have come in
   * between: the pages that are read next tell it anew.
   */
  readonly unconfirmed: readonly AgentMessage[];
  /** What comes before the messages. Undefined where nothing was said before, or nobody has told anything yet. */
  readonly earlier: PageRequest | undefined;
}

export const emptyHistory: MessageHistory = { messages: [], unconfirmed: [], earlier: undefined };

/** A conversation with a page more before what is confirmed. A page that was asked for in another one changes nothing. */
export function prependPage<K extends MessageHistory>(history: K, request: PageRequest, page: Result<'get_messages_page'>): K {
  if (history.earlier !== request) return history;
  const earlier = requestBefore(page.messages, page.nextCursor, request.replaced);
  const { messages, unconfirmed } = confirm(page.messages, history.unconfirmed, earlier);
  return { ...history, messages: [...messages, ...history.messages], unconfirmed, earlier };
}

/**
 * What is known after a snapshot. Messages that were known stay the same objects, and those before its first one stay
 * where they are until they are told anew.
 */
export function mergeSnapshot(history: MessageHistory, snapshot: { messages: readonly AgentMessage[]; cursor?: string | undefined }): MessageHistory {
  const earlier = requestBefore(snapshot.messages, snapshot.cursor);
  return { ...confirm(snapshot.messages, [...history.unconfirmed, ...history.messages], earlier), earlier };
}

/** What comes before these messages. A summary stands for messages that can still be read. */
function requestBefore([first]: readonly AgentMessage[], cursor: string | undefined, replaced = false): PageRequest | undefined {
  if (cursor !== undefined) return { from: 'end', cursor, ...(replaced ? { replaced } : {}) };
  return first?.role === 'compactionSummary' && !replaced ? { from: 'end', replaced: true } : undefined;
}

/** Messages as they are told, and those that were known before them and may have been said before them. */
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

/** Known messages that may be told again, from the last one to the first. */
class KnownMessages {
  readonly #known: readonly AgentMessage[];
  /** The known messages as texts, those that were needed. */
  readonly #serialized: string[] = [];
  #end: number;

  constructor(known: readonly AgentMessage[]) {
    this.#known = known;
    this.#end = known.length;
  }

  /** Those before here may still be taken. */
  get end(): number {
    return this.#end;
  }

  /** The last one that is the same as this; those behind it are passed over. */
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
