import { RemoteSession } from '../../../../client/remote/remote-session.ts';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { socketAddress } from '../../server-api.ts';
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

type RemoteWork<T> = (remote: RemoteSession) => Promise<T>;

/** Whether the open session is meant; without a summary it is. */
export const isCurrent = (app: App, summary: SessionSummary | undefined): boolean =>
  summary === undefined || summary.id === app.sessionId.value;

/** Connects to the agent of another session, or of a new one, for the duration of `work`. */
export async function withOtherSession<T>(summary: SessionSummary | undefined, work: RemoteWork<T>): Promise<T> {
  const remote = new RemoteSession(socketAddress().href, { session: summary?.id, tail: 1, ui: [], whenLost: 'close' });
  try {
    return await work(remote);
  } finally {
    remote.close();
  }
}

/** Runs a request that any agent can serve: the connected one, or else a temporary one. */
export const withAnyAgent = <T>({ remote }: LiveSession, work: RemoteWork<T>): Promise<T> =>
  remote.status.state === 'open' ? work(remote) : withOtherSession(undefined, work);
