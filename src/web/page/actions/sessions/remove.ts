import { CommandFailed } from '../../../../client/errors.ts';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import type { App } from '../../state/app.ts';
import type { LiveSession } from '../../state/live-session.ts';
import { sessionOf } from './attempt.ts';
import { anywhere, isHere } from './elsewhere.ts';
import { allowed } from './moves.ts';

/**
 * Moves a session to the trash. Whoever is in it leaves it first, since a session that somebody is in is not deleted, and
 * is in a new one of the same folder afterwards.
 */
export async function remove(app: App, summary: SessionSummary): Promise<void> {
  const session = sessionOf(app);
  const wasHere = isHere(app, summary);
  if (wasHere) app.navigation.abandon();
  try {
    await session.during(async () => {
      if (wasHere) await leave(session);
      await anywhere(session, (any) => any.deleteSession({ sessionPath: summary.path }));
    });
    void app.sessions.forget(summary);
    app.drafts.forget(summary.id);
    if (wasHere) app.navigation.beginInstead(summary.cwd);
    app.session.value?.remark('The session is in the trash now.');
  } catch (error) {
    if (wasHere) app.navigation.reclaim();
    if (!(error instanceof CommandFailed) || error.code !== 'session_in_use') throw error;
    throw new Error('This session is open elsewhere, or at work. Leave it there, or stop it, and try again.');
  }
}

/** Stops what runs and goes where nobody stays: a session that is begun so keeps the model of this one. */
async function leave({ remote, view }: LiveSession): Promise<void> {
  if (view.value.running) await remote.abort();
  allowed(await remote.newSession());
}
