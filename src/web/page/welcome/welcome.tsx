import { useComputed } from '@preact/signals';
import { PlainText } from '../../code/plain-text.tsx';
import { formatDateTime } from '../../format.ts';
import { SessionLink } from '../sessions/session-link.tsx';
import { useApp, useSession } from '../state/app.ts';
import { sessionTitle } from '../state/list/session-summaries.ts';
import { BuiltInWelcome } from './built-in-welcome.tsx';
import { RealWelcome } from './real-welcome.tsx';

const EMPTY_SESSION = 'This session has no messages yet.';

/** The content of an empty session. */
export function Welcome() {
  const session = useSession();
  const model = useComputed(() => session.view.value.state.model).value;
  const mayPrompt = useApp().may('prompt');
  // The model is not known yet: nothing should flash.
  if (model === undefined) return null;
  return (
    <div class="welcome">
      {!mayPrompt ? (
        <p class="note">{EMPTY_SESSION}</p>
      ) : model?.provider === 'tau' ? (
        <BuiltInWelcome />
      ) : (
        <RealWelcome />
      )}
      <RecentSessions />
    </div>
  );
}

const MAX_RECENT_SESSIONS = 5;

/** The latest sessions of the same folder. */
function RecentSessions() {
  const app = useApp();
  const session = useSession();
  const cwd = useComputed(() => session.view.value.state.cwd).value;
  const recent = (app.sessions.sessions.value ?? [])
    .filter((one) => one.cwd === cwd && one.messageCount > 0 && one.id !== app.sessionId.value)
    .slice(0, MAX_RECENT_SESSIONS);
  if (recent.length === 0) return null;
  return (
    <section class="recent" aria-labelledby="recent">
      <h3 id="recent">Go on in this folder</h3>
      <ul>
        {recent.map((summary) => {
          const { id, lastModified } = summary;
          return (
            <li key={id}>
              <SessionLink id={id}>
                <PlainText text={sessionTitle(summary)} />
              </SessionLink>
              <span class="note">{formatDateTime(lastModified)}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
