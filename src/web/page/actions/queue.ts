import { CommandFailed } from '../../../client/errors.ts';
import type { OutboxItem } from '../../../client/remote/outbox.ts';
import type { Params, QueuedItem } from '../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../state/live-session.ts';
import { hasChanges, type QueueEdit, type MessageDraft } from '../state/draft/message-draft.ts';

/** Changes a message that waits. `gone`: it was delivered, or dropped, before that. */
export async function editQueued(
  session: LiveSession,
  edit: Params<'edit_queued'>,
): Promise<'saved' | 'gone' | 'failed'> {
  let isRemoved = false;
  const isSaved = await session.attempt(() =>
    session.remote.editQueued(edit).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      isRemoved = true;
    }),
  );
  if (isRemoved) return 'gone';
  return isSaved ? 'saved' : 'failed';
}

/** Takes a message back. One that was delivered before that is left alone. */
export const dropQueued = (session: LiveSession, queueId: string): Promise<boolean> =>
  session.attempt(() =>
    session.remote.removeQueued({ queueId }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    }),
  );

/** Does not send what was not sent yet: it is in the box again. */
export const withdrawUnsent = ({ remote }: LiveSession, { clientMessageId }: OutboxItem): boolean =>
  remote.withdraw(clientMessageId);

/** Lets go of what waits no more. What was being written in the place of it is not lost. */
export function syncQueue(session: LiveSession, draft: MessageDraft, queue: readonly QueuedItem[]): void {
  draft.queued.sync(queue);
  const edit = draft.queueEdit.value;
  if (!edit || queue.some(({ id }) => id === edit.queueId)) return;
  draft.queueEdit.value = undefined;
  restoreEdit(session, draft, edit);
}

/** The message waits no more: puts what was to become of it behind what is written in the composer, and says so. */
export function restoreEdit(session: LiveSession, draft: MessageDraft, edit: QueueEdit): void {
  if (!hasChanges(edit)) return;
  draft.append(edit.message);
  session.showNotice('The message is no longer queued. What you wrote is in the composer.');
}

const isNotFound = (error: unknown) => error instanceof CommandFailed && error.code === 'not_found';
