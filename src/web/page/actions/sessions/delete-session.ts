import { CommandFailed } from '../../../../client/errors.ts';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import type { App } from '../../state/app.ts';
import { unlessCancelled } from './clone-and-fork.ts';
import { attempt, isCurrent, requireSession, withAnyAgent } from './connections.ts';

/** The session has a run or other clients that the deletion would stop. */
export class SessionInUse extends Error {}

/**
 * Moves a session to the trash. An open session is in use, so the page first switches to a new one in the same folder.
 * A refused deletion stops nothing.
 */
export async function deleteSession(app: App, summary: SessionSummary, stop?: 'run' | 'all'): Promise<void> {
  const session = requireSession(app);
  const wasCurrent = isCurrent(app, summary);
  if (wasCurrent) app.navigation.prepareDelete();
  try {
    const { trashPath } = await session.track(async () => {
      if (wasCurrent) unlessCancelled(await session.remote.newSession());
      return withAnyAgent(session, (remote) => remote.deleteSession({ sessionPath: summary.path, stop }));
    });
    void app.sessions.remove(summary);
    app.drafts.remove(summary.id);
    if (wasCurrent) app.navigation.replaceDeleted(summary.cwd);
    app.session.value?.showNotice('The session is in the trash now.', {
      label: 'Undo',
      onSelect: () => void restoreSession(app, trashPath, wasCurrent ? summary.id : undefined),
    });
  } catch (error) {
    if (wasCurrent) app.navigation.cancelDelete();
    if (!(error instanceof CommandFailed) || error.code !== 'session_in_use') throw error;
    if (stop === 'all') throw new Error('This session is open in another program. Close it there and try again.');
    throw new SessionInUse('This session is open elsewhere, or at work.');
  }
}

/** Moves a session out of the trash and opens it, if it was open before. */
async function restoreSession(app: App, trashPath: string, openId: string | undefined): Promise<void> {
  const isDone = await attempt(app, (session) =>
    withAnyAgent(session, (remote) => remote.restoreSession({ trashPath })),
  );
  if (isDone && openId !== undefined) app.goTo({ kind: 'session', id: openId });
  await app.sessions.refresh();
}
