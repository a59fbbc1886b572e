import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import type { App } from '../../state/app.ts';
import { attempt, isCurrent, withAnyAgent } from './connections.ts';

/** Renames a session; without a summary, the open one. */
export async function renameSession(app: App, summary: SessionSummary | undefined, name: string): Promise<void> {
  await attempt(app, (session) =>
    isCurrent(app, summary)
      ? session.remote.setSessionName({ name })
      : withAnyAgent(session, (remote) => remote.renameSession({ sessionPath: summary?.path ?? '', name })),
  );
  await app.sessions.refresh();
}
