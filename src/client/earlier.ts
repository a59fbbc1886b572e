import type { AgentMessage, Params, Result } from '../protocol/generated/vocabulary.ts';

/** What the messages before those that are known are asked for with. */
export type Earlier = Readonly<Params<'get_messages_page'>>;

/** What is known of a conversation: its end, and how to come by what was said before. */
export interface Known {
  readonly messages: readonly AgentMessage[];
  /** Undefined where nothing was said before, or nobody has told anything yet. */
  readonly earlier: Earlier | undefined;
}

/** A conversation with a page more at its beginning. A page that was asked for in another one changes nothing. */
export function withEarlier<K extends Known>(known: K, asked: Earlier, page: Result<'get_messages_page'>): K {
  if (known.earlier !== asked) return known;
  const messages = [...page.messages, ...known.messages];
  return { ...known, messages, earlier: before(messages, page.nextCursor, asked.replaced) };
}

/**
 * What is known after a snapshot. Messages that were known stay the same objects, and those before its first one stay
 * known if the snapshot goes on from there.
 */
export function merged(known: Known, told: { messages: readonly AgentMessage[]; cursor?: string | undefined }): Known {
  const { cursor } = told;
  const offset = offsetOf(told.messages, known.messages);
  const messages =
    offset === undefined
      ? told.messages
      : told.messages.map((message, at) => {
          const one = known.messages[at + offset];
          return one && isSame(one, message) ? one : message;
        });
  const [first] = messages;
  const isPart = cursor !== undefined || first?.role === 'compactionSummary';
  if (isPart && offset !== undefined && offset > 0 && first === known.messages[offset]) {
    return { messages: [...known.messages.slice(0, offset), ...messages], earlier: known.earlier };
  }
  return { messages, earlier: before(messages, cursor) };
}

/** What comes before these messages. A summary stands for messages that can still be read. */
function before([first]: readonly AgentMessage[], cursor: string | undefined, replaced = false): Earlier | undefined {
  if (cursor !== undefined) return { from: 'end', cursor, ...(replaced ? { replaced } : {}) };
  return first?.role === 'compactionSummary' && !replaced ? { from: 'end', replaced: true } : undefined;
}

/** How much further on messages are in `known`, by the last one that both have. */
function offsetOf(messages: readonly AgentMessage[], known: readonly AgentMessage[]): number | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    const found = message ? known.findLastIndex((one) => isSame(one, message)) : -1;
    if (found !== -1) return found - at;
  }
  return undefined;
}

const isSame = (one: AgentMessage, other: AgentMessage): boolean =>
  one.role === other.role && one.timestamp === other.timestamp && JSON.stringify(one) === JSON.stringify(other);
