import { RemoteSession } from '../../../../client/remote/remote-session.ts';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { socketAddress } from '../../server-api.ts';
import type { App } from '../../state/app.ts';
import type { LiveSession } from '../../state/live-session.ts';

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
