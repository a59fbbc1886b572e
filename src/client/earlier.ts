import type { AgentMessage, Params, Result } from '../protocol/generated/vocabulary.ts';

/** What the messages before those that are known are asked for with. */
export type Earlier = Readonly<Params<'get_messages_page'>>;

/** What is known of a conversation: its end, and how to come by what was said before. */
export interface Known {
  readonly messages: readonly AgentMessage[];
  /**
   * What was known before the messages of a snapshot, and is not told by it. A summary or an edit may have come in
   * between: the pages that are read next tell it anew.
   */
  readonly unconfirmed: readonly AgentMessage[];
  /** What comes before the messages. Undefined where nothing was said before, or nobody has told anything yet. */
  readonly earlier: Earlier | undefined;
}

export const nothingKnown: Known = { messages: [], unconfirmed: [], earlier: undefined };

/** A conversation with a page more before what is confirmed. A page that was asked for in another one changes nothing. */
export function withEarlier<K extends Known>(known: K, asked: Earlier, page: Result<'get_messages_page'>): K {
  if (known.earlier !== asked) return known;
  const earlier = before(page.messages, page.nextCursor, asked.replaced);
  const { messages, unconfirmed } = confirmed(page.messages, known.unconfirmed, earlier);
  return { ...known, messages: [...messages, ...known.messages], unconfirmed, earlier };
}

/**
 * What is known after a snapshot. Messages that were known stay the same objects, and those before its first one stay
 * where they are until they are told anew.
 */
export function merged(known: Known, told: { messages: readonly AgentMessage[]; cursor?: string | undefined }): Known {
  const earlier = before(told.messages, told.cursor);
  return { ...confirmed(told.messages, [...known.unconfirmed, ...known.messages], earlier), earlier };
}

/** What comes before these messages. A summary stands for messages that can still be read. */
function before([first]: readonly AgentMessage[], cursor: string | undefined, replaced = false): Earlier | undefined {
  if (cursor !== undefined) return { from: 'end', cursor, ...(replaced ? { replaced } : {}) };
  return first?.role === 'compactionSummary' && !replaced ? { from: 'end', replaced: true } : undefined;
}

/** Messages as they are told, and those that were known before them and may have been said before them. */
function confirmed(
  told: readonly AgentMessage[],
  known: readonly AgentMessage[],
  earlier: Earlier | undefined,
): Pick<Known, 'messages' | 'unconfirmed'> {
  const candidates = new Candidates(known);
  const messages = told.toReversed().map((message) => candidates.take(message) ?? message);
  const isGlued = earlier !== undefined && candidates.end < known.length;
  return { messages: messages.reverse(), unconfirmed: isGlued ? known.slice(0, candidates.end) : [] };
}

/** Known messages that may be told again, from the last one to the first. */
class Candidates {
  readonly #known: readonly AgentMessage[];
  /** The known messages as texts, those that were needed. */
  readonly #written: string[] = [];
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
  take(message: AgentMessage): AgentMessage | undefined {
    const { role, timestamp } = message;
    const written = JSON.stringify(message);
    for (let at = this.#end - 1; at >= 0; at--) {
      const known = this.#known[at];
      if (known?.role !== role || known.timestamp !== timestamp) continue;
      this.#written[at] ??= JSON.stringify(known);
      if (this.#written[at] !== written) continue;
      this.#end = at;
      return known;
    }
    return undefined;
  }
}
