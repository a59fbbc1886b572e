import { CommandFailed } from '../../../client/errors.ts';
import { type PageRequest, type MessageHistory, emptyHistory, prependPage } from '../../../client/view/history.ts';
import type { LiveSession } from '../state/live-session.ts';

/** How many messages are read at once. */
const PAGE = 200;

interface LoadEarlierOptions {
  /** What comes before; otherwise what the session knows of that. */
  readonly before?: PageRequest | undefined;
  readonly limit?: number | undefined;
}

/** What there is after a page was read. */
export interface EarlierPage {
  /** What comes before that page. */
  readonly earlier: PageRequest | undefined;
  /** How many messages are known for certain. */
  readonly confirmed: number;
  /** How many were known before the conversation became another one, and have to be told anew. */
  readonly unconfirmed: number;
  /** Of all pages like it. */
  readonly totalMessages: number;
}

/**
 * Reads the messages before those that are known. Undefined where there are none, or where the conversation became
 * another one meanwhile: then there will be something else to ask for.
 */
export async function loadEarlier(session: LiveSession, options: LoadEarlierOptions = {}): Promise<EarlierPage | undefined> {
  const { before: before = session.view.peek().earlier, limit = PAGE } = options;
  if (!before) return undefined;
  try {
    const page = await session.remote.getMessagesPage({ ...before, limit });
    let merged: MessageHistory = emptyHistory;
    session.update((view) => {
      const next = prependPage(view, before, page);
      merged = next;
      return next;
    });
    const { messages, unconfirmed, earlier } = merged;
    return {
      earlier,
      confirmed: messages.length,
      unconfirmed: unconfirmed.length,
      totalMessages: page.totalMessages,
    };
  } catch (error) {
    if (error instanceof CommandFailed && error.code === 'not_found') return undefined;
    throw error;
  }
}
