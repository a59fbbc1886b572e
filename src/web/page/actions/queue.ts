import { CommandFailed } from '../../../client/errors.ts';
import type { OutboxItem } from '../../../client/remote/outbox.ts';
import type { Params, QueuedItem } from '../../../protocol/generated/vocabulary.ts';
import { hasChanges, type MessageDraft, type QueueEdit } from '../state/draft/message-draft.ts';
import type { LiveSession } from '../state/live-session.ts';

/** Edits a queued message. `removed` means it was delivered or dropped before. */
export async function editQueued(
  session: LiveSession,
  edit: Params<'edit_queued'>,
): Promise<'saved' | 'removed' | 'failed'> {
  let isRemoved = false;
  const isSaved = await session.attempt(() =>
    session.remote.editQueued(edit).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      isRemoved = true;
    }),
  );
  if (isRemoved) return 'removed';
  return isSaved ? 'saved' : 'failed';
}

/** Drops a queued message; one that was delivered before is ignored. */
export const dropQueued = (session: LiveSession, queueId: string): Promise<boolean> =>
  session.attempt(() =>
    session.remote.removeQueued({ queueId }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    }),
  );

/** Withdraws a message that was not sent yet; the client then rejects it, which restores the draft. */
export const withdrawUnsent = ({ remote }: LiveSession, { clientMessageId }: OutboxItem): boolean =>
  remote.withdraw(clientMessageId);

/** Applies the current queue. The edit of a message that left the queue is restored to the draft. */
export function syncQueue(session: LiveSession, draft: MessageDraft, queue: readonly QueuedItem[]): void {
  draft.queued.sync(queue);
  const edit = draft.queueEdit.value;
  if (!edit || queue.some(({ id }) => id === edit.queueId)) return;
  draft.queueEdit.value = undefined;
  restoreEdit(session, draft, edit);
}

/** Appends the edited text of a message that is no longer queued to the draft, with a notice. */
export function restoreEdit(session: LiveSession, draft: MessageDraft, edit: QueueEdit): void {
  if (!hasChanges(edit)) return;
  draft.append(edit.message);
  session.showNotice('The message is no longer queued. What you wrote is in the composer.');
}

const isNotFound = (error: unknown) => error instanceof CommandFailed && error.code === 'not_found';
