import type { ImageContent, SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import type { App } from '../../state/app.ts';
import { asAttachment } from '../../state/draft/attachment.ts';
import { attempt, isCurrent, withOtherSession } from './connections.ts';

/** Clones a session and opens the clone; without a summary, the open one. */
export const clone = (app: App, summary?: SessionSummary): Promise<boolean> =>
  attempt(app, async ({ remote }) => {
    app.isListOpen.value = false;
    if (isCurrent(app, summary)) return unlessCancelled(await remote.clone());
    const copy = await withOtherSession(summary, (other) => other.clone({ detached: true }));
    const { sessionId } = unlessCancelled(copy);
    if (sessionId !== undefined) app.goTo({ kind: 'session', id: sessionId });
    void app.sessions.refresh();
    return copy;
  });

// A user message, and the number of user messages with text after it.
interface ForkPoint {
  readonly messageText: string;
  readonly images: readonly ImageContent[];
  readonly userMessagesAfter: number;
}

/** Forks the session before a user message and opens the fork with that message as its draft. */
export const fork = (app: App, { messageText, images, userMessagesAfter }: ForkPoint): Promise<boolean> =>
  attempt(app, async ({ remote }) => {
    const { messages } = await remote.getForkMessages();
    // Messages may have been added since the page was drawn.
    const message = messages
      .slice(0, messages.length - userMessagesAfter)
      .findLast(({ text }) => isSameText(text, messageText));
    if (!message) throw new Error('This message is there no more');
    const { text, sessionId } = unlessCancelled(await remote.fork({ entryId: message.entryId }));
    if (sessionId === undefined) return;
    const draft = app.drafts.get(sessionId);
    draft.text.value = text;
    draft.attachments.value = images.map(asAttachment);
  });

/** Compares without newlines: several text blocks of one message are joined in different ways. */
export const isSameText = (one: string, other: string) => one.replaceAll('\n', '') === other.replaceAll('\n', '');

/** Returns the result of a session change; throws when an extension cancelled it. */
export function unlessCancelled<T extends { readonly cancelled: boolean }>(result: T): T {
  if (result.cancelled) throw new Error('An extension did not allow it');
  return result;
}
