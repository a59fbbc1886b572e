import type { App } from '../../state/app.ts';
import type { LiveSession } from '../../state/live-session.ts';

/** The session that is looked at. */
export function requireSession(app: App): LiveSession {
  const session = app.session.value;
  if (!session) throw new Error('There is no connection for this');
  return session;
}

/** Does something that may fail, and shows why it did where somebody looks by then; answers whether it was done. */
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
