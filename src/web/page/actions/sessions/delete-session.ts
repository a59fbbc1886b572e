import { CommandFailed } from '../../../../client/errors.ts';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import type { App } from '../../state/app.ts';
import type { LiveSession } from '../../state/live-session.ts';
import { unlessCancelled } from './clone-and-fork.ts';
import { isCurrent, requireSession, withAnyAgent } from './connections.ts';

/**
 * Moves a session to the trash. An open session is in use, so the page first switches to a new one in the same folder.
 */
export async function deleteSession(app: App, summary: SessionSummary): Promise<void> {
  const session = requireSession(app);
  const wasCurrent = isCurrent(app, summary);
  if (wasCurrent) app.navigation.prepareDelete();
  try {
    await session.track(async () => {
      if (wasCurrent) await switchToNewSession(session);
      await withAnyAgent(session, (remote) => remote.deleteSession({ sessionPath: summary.path }));
    });
    void app.sessions.remove(summary);
    app.drafts.remove(summary.id);
    if (wasCurrent) app.navigation.replaceDeleted(summary.cwd);
    app.session.value?.showNotice('The session is in the trash now.');
  } catch (error) {
    if (wasCurrent) app.navigation.cancelDelete();
    if (!(error instanceof CommandFailed) || error.code !== 'session_in_use') throw error;
    throw new Error('This session is open elsewhere, or at work. Leave it there, or stop it, and try again.');
  }
}

/** Aborts the run, then moves the agent to a new session, which keeps the model. */
async function switchToNewSession({ remote, view }: LiveSession): Promise<void> {
  if (view.value.running) await remote.abort();
  unlessCancelled(await remote.newSession());
}
