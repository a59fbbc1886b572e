import type { ImageContent, SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import type { App } from '../../state/app.ts';
import { asAttachment } from '../../state/writing/said-images.ts';
import { attempt } from './attempt.ts';
import { elsewhere, isHere } from './elsewhere.ts';

/** Copies a session and goes to the copy; the one that is looked at unless there is another. */
export const clone = (app: App, summary?: SessionSummary): Promise<boolean> =>
  attempt(app, async ({ remote }) => {
    app.isListOpen.value = false;
    if (isHere(app, summary)) return allowed(await remote.clone());
    const copy = await elsewhere(summary, (other) => other.clone({ detached: true }));
    const { sessionId } = allowed(copy);
    if (sessionId !== undefined) app.go({ kind: 'session', id: sessionId });
    void app.sessions.refresh();
    return copy;
  });

/** A message of the user: its words and pictures, and how many have followed that have words, too. */
interface ForkPlace {
  readonly words: string;
  readonly images: readonly ImageContent[];
  readonly userMessagesAfter: number;
}

/** Goes to a copy of what was said before a message of the user; the message itself can be written anew there. */
export const fork = (app: App, { words, images, userMessagesAfter }: ForkPlace): Promise<boolean> =>
  attempt(app, async ({ remote }) => {
    const { messages } = await remote.getForkMessages();
    // More may have been said since the page was drawn.
    const message = messages
      .slice(0, messages.length - userMessagesAfter)
      .findLast(({ text }) => isSameText(text, words));
    if (!message) throw new Error('This message is there no more');
    const { text, sessionId } = allowed(await remote.fork({ entryId: message.entryId }));
    if (sessionId === undefined) return;
    const writing = app.drafts.writingIn(sessionId);
    writing.text.value = text;
    writing.attachments.value = images.map(asAttachment);
  });

/** Messages may consist of several texts, which are joined in one way or another. */
export const isSameText = (one: string, other: string) => one.replaceAll('\n', '') === other.replaceAll('\n', '');

/** What a move has led to, unless an extension said no. */
export function allowed<T extends { readonly cancelled: boolean }>(moved: T): T {
  if (moved.cancelled) throw new Error('An extension did not allow it');
  return moved;
}
