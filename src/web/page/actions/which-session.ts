import { RemoteSession } from '../../../client/remote-session.ts';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { socketAddress } from '../entrance/server.ts';
import type { App } from '../state/app.ts';
import type { LiveSession } from '../state/live-session.ts';

/** Whether the session that is looked at is meant: that is so unless another is named. */
export const isHere = (app: App, summary: SessionSummary | undefined): boolean =>
  summary === undefined || summary.id === app.sessionId.value;

/** The session that is looked at. */
export function sessionOf(app: App): LiveSession {
  const session = app.session.value;
  if (!session) throw new Error('There is no connection for this');
  return session;
}

/** Does something that may fail, and shows why it did where somebody looks; answers whether it was done. */
export const attempt = (app: App, work: (session: LiveSession) => Promise<unknown>): Promise<boolean> => {
  const session = sessionOf(app);
  return session.attempt(() => work(session));
};

/** Asks the agent of another session, by a connection for just that. */
export async function elsewhere<T>(
  summary: SessionSummary | undefined,
  work: (remote: RemoteSession) => Promise<T>,
): Promise<T> {
  const remote = new RemoteSession(socketAddress().href, { session: summary?.id, tail: 1, ui: [], whenLost: 'close' });
  try {
    return await work(remote);
  } finally {
    remote.close();
  }
}
