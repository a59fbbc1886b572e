import { CommandFailed } from '../../../../client/command-failed.ts';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import type { App } from '../../state/app.ts';
import type { LiveSession } from '../../state/live-session.ts';
import { sessionOf } from './attempt.ts';
import { anywhere, isHere } from './elsewhere.ts';
import { allowed } from './moves.ts';

/**
 * Moves a session to the trash, and says where it is now. Whoever is in it goes to a new one first: a session that
 * somebody is in is not deleted.
 */
export async function remove(app: App, summary: SessionSummary): Promise<void> {
  const session = sessionOf(app);
  const wasHere = isHere(app, summary);
  if (wasHere) app.navigation.abandon();
  try {
    if (wasHere) await leave(session);
    const { trashPath } = await anywhere(session, (any) => any.deleteSession({ sessionPath: summary.path }));
    void app.sessions.forget(summary);
    app.drafts.forget(summary.id);
    app.session.value?.remark(`The session is in the trash now: ${trashPath}`);
  } catch (error) {
    if (wasHere) app.navigation.reclaim();
    if (!(error instanceof CommandFailed) || error.code !== 'session_in_use') throw error;
    throw new Error('This session is open elsewhere, or at work. Leave it there, or stop it, and try again.');
  }
}

/** Stops what runs and goes on in a new session of the same folder. */
async function leave({ remote, view }: LiveSession): Promise<void> {
  if (view.value.running) await remote.abort();
  allowed(await remote.newSession());
}
