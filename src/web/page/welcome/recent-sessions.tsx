import { useComputed } from '@preact/signals';
import { PlainText } from '../../code/plain-text.tsx';
import { dateAndTime } from '../../words.ts';
import { useApp, useSession } from '../state/app.ts';
import { nameOf } from '../state/list/groups.ts';
import { addressOf, type Place } from '../state/place.ts';

/** Sessions that are named at most. */
const FEW = 5;

/** The last sessions of the same folder. */
export function RecentSessions() {
  const app = useApp();
  const session = useSession();
  const cwd = useComputed(() => session.view.value.state.cwd).value;
  const recent = (app.sessions.sessions.value ?? [])
    .filter((one) => one.cwd === cwd && one.messageCount > 0 && one.id !== app.sessionId.value)
    .slice(0, FEW);
  if (recent.length === 0) return null;
  return (
    <section class="recent" aria-labelledby="recent">
      <h3 id="recent">Go on in this folder</h3>
      <ul>
        {recent.map((summary) => {
          const { id, lastModified } = summary;
          const place: Place = { kind: 'session', id };
          return (
            <li key={id}>
              <a
                href={addressOf(place)}
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  app.go(place);
                }}
              >
                <PlainText text={nameOf(summary)} />
              </a>
              <span class="note">{dateAndTime(lastModified)}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
