import { CommandFailed } from '../../../client/errors.ts';
import { emptyHistory, type MessageHistory, type PageRequest, prependPage } from '../../../client/view/history.ts';
import type { LiveSession } from '../state/live-session.ts';

const PAGE = 200;

interface LoadEarlierOptions {
  // Defaults to the cursor of the session view.
  readonly before?: PageRequest | undefined;
  readonly limit?: number | undefined;
}

/** The loaded history after one page was read. */
export interface EarlierPage {
  /** The cursor of the next older page. */
  readonly earlier: PageRequest | undefined;
  /** Messages that are confirmed by the current history. */
  readonly confirmed: number;
  /** Messages from before a reset of the history that are not confirmed yet. */
  readonly unconfirmed: number;
  readonly totalMessages: number;
}

/**
 * Loads the page of messages before the loaded ones. Returns undefined when there is none, or when the history was
 * replaced in the meantime: the view then has another cursor.
 */
export async function loadEarlier(
  session: LiveSession,
  options: LoadEarlierOptions = {},
): Promise<EarlierPage | undefined> {
  const { before = session.view.peek().earlier, limit = PAGE } = options;
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
