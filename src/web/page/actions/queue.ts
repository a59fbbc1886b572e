import { CommandFailed } from '../../../client/command-failed.ts';
import type { Params } from '../../../protocol/generated/vocabulary.ts';
import type { App } from '../state/app.ts';
import type { LiveSession } from '../state/live-session.ts';

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

/** Puts words behind what is written in the composer, and says why. */
export function giveBack({ drafts }: App, session: LiveSession, text: string): void {
  const draft = drafts.of(session.remote.sessionId ?? session.place.id);
  draft.value = [draft.value, text].filter((part) => part !== '').join('\n\n');
  session.remark('The message was delivered before it was changed. What you wrote is in the composer.');
}

const isNotFound = (error: unknown) => error instanceof CommandFailed && error.code === 'not_found';
