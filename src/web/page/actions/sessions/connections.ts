import type { App } from '../../state/app.ts';
import type { LiveSession } from '../../state/live-session.ts';

/** Returns the open session; throws when there is none. */
export function requireSession(app: App): LiveSession {
  const session = app.session.value;
  if (!session) throw new Error('There is no connection for this');
  return session;
}

/**
 * Runs work for the open session and shows an error in the session that is open when it fails; returns whether it
 * succeeded.
 */
export async function attempt(app: App, work: (session: LiveSession) => Promise<unknown>): Promise<boolean> {
  const session = requireSession(app);
  try {
    await session.track(() => work(session));
    return true;
  } catch (error) {
    app.session.value?.showError(error);
    return false;
  }
}
