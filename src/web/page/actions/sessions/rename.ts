import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import type { App } from '../../state/app.ts';
import { attempt } from './attempt.ts';
import { anywhere, isHere } from './elsewhere.ts';

/** Gives a session another name; the one that is looked at unless there is another. */
export async function rename(app: App, summary: SessionSummary | undefined, name: string): Promise<void> {
  await attempt(app, (session) =>
    isHere(app, summary)
      ? session.remote.setSessionName({ name })
      : anywhere(session, (any) => any.renameSession({ sessionPath: summary?.path ?? '', name })),
  );
  await app.sessions.refresh();
}
