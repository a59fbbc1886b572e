import { CommandFailed } from '../../../client/errors.ts';
import type { OutboxItem } from '../../../client/remote/outbox.ts';
import type { Params, QueuedItem } from '../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../state/live-session.ts';
import { isChanged, type QueueChange, type Writing } from '../state/writing/writing.ts';

/** Changes a message that waits. `gone`: it was delivered, or dropped, before that. */
export async function editQueued(
  session: LiveSession,
  change: Params<'edit_queued'>,
): Promise<'saved' | 'gone' | 'failed'> {
  let isGone = false;
  const isSaved = await session.attempt(() =>
    session.remote.editQueued(change).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      isGone = true;
    }),
  );
  if (isGone) return 'gone';
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
export const takeBack = ({ remote }: LiveSession, { clientMessageId }: OutboxItem): boolean =>
  remote.withdraw(clientMessageId);

/** Lets go of what waits no more. What was being written in the place of it is not lost. */
export function settleQueue(session: LiveSession, writing: Writing, queue: readonly QueuedItem[]): void {
  writing.waiting.settle(queue);
  const change = writing.change.value;
  if (!change || queue.some(({ id }) => id === change.queueId)) return;
  writing.change.value = undefined;
  giveBackChange(session, writing, change);
}

/** The message waits no more: puts what was to become of it behind what is written in the composer, and says so. */
export function giveBackChange(session: LiveSession, writing: Writing, change: QueueChange): void {
  if (!isChanged(change)) return;
  writing.append(change.message);
  session.remark('The message is no longer queued. What you wrote is in the composer.');
}

const isNotFound = (error: unknown) => error instanceof CommandFailed && error.code === 'not_found';
