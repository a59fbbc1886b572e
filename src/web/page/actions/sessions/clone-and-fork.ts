import type { ImageContent, SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import type { App } from '../../state/app.ts';
import { asAttachment } from '../../state/draft/message-images.ts';
import { attempt } from './connections.ts';
import { withOtherSession, isCurrent } from './elsewhere.ts';

/** Copies a session and goes to the copy; the one that is looked at unless there is another. */
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

/** A message of the user: its words and pictures, and how many have followed that have words, too. */
interface ForkPoint {
  readonly messageText: string;
  readonly images: readonly ImageContent[];
  readonly userMessagesAfter: number;
}

/** Goes to a copy of what was said before a message of the user; the message itself can be written anew there. */
export const fork = (app: App, { messageText, images, userMessagesAfter }: ForkPoint): Promise<boolean> =>
  attempt(app, async ({ remote }) => {
    const { messages } = await remote.getForkMessages();
    // More may have been said since the page was drawn.
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

/** Messages may consist of several texts, which are joined in one way or another. */
export const isSameText = (one: string, other: string) => one.replaceAll('\n', '') === other.replaceAll('\n', '');

/** What a move has led to, unless an extension said no. */
export function unlessCancelled<T extends { readonly cancelled: boolean }>(result: T): T {
  if (result.cancelled) throw new Error('An extension did not allow it');
  return result;
}
