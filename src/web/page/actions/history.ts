import { CommandFailed } from '../../../client/errors.ts';
import { type PageRequest, type MessageHistory, emptyHistory, prependPage } from '../../../client/view/history.ts';
import type { LiveSession } from '../state/live-session.ts';

/** How many messages are read at once. */
const PAGE = 200;

interface Wish {
  /** What comes before; otherwise what the session knows of that. */
  readonly asked?: PageRequest | undefined;
  readonly limit?: number | undefined;
}

/** What there is after a page was read. */
export interface ReadPage {
  /** What comes before that page. */
  readonly rest: PageRequest | undefined;
  /** How many messages are known for certain. */
  readonly certain: number;
  /** How many were known before the conversation became another one, and have to be told anew. */
  readonly unconfirmed: number;
  /** Of all pages like it. */
  readonly totalMessages: number;
}

/**
 * Reads the messages before those that are known. Undefined where there are none, or where the conversation became
 * another one meanwhile: then there will be something else to ask for.
 */
export async function loadEarlier(session: LiveSession, wish: Wish = {}): Promise<ReadPage | undefined> {
  const { asked = session.view.peek().earlier, limit = PAGE } = wish;
  if (!asked) return undefined;
  try {
    const page = await session.remote.getMessagesPage({ ...asked, limit });
    let known: MessageHistory = emptyHistory;
    session.change((view) => {
      const after = prependPage(view, asked, page);
      known = after;
      return after;
    });
    const { messages, unconfirmed, earlier } = known;
    return {
      rest: earlier,
      certain: messages.length,
      unconfirmed: unconfirmed.length,
      totalMessages: page.totalMessages,
    };
  } catch (error) {
    if (error instanceof CommandFailed && error.code === 'not_found') return undefined;
    throw error;
  }
}
