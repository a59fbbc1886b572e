import { useSignal, useSignalEffect } from '@preact/signals';
import { PlainText } from '../../code/plain-text.tsx';
import { Icon } from '../icons.tsx';
import { useApp } from '../state/app.ts';
import { sessionTitle } from '../state/list/session-summaries.ts';

/** Names the other sessions that wait for an answer, until they are answered or the user dismisses the notice. */
export function WaitingNotice() {
  const app = useApp();
  const dismissed = useSignal<readonly string[]>([]);
  const waiting = app.waiting.value;
  // A session that waits again is announced again.
  useSignalEffect(() => {
    const ids = app.waiting.value.map(({ id }) => id);
    if (dismissed.peek().some((id) => !ids.includes(id)))
      dismissed.value = dismissed.peek().filter((id) => ids.includes(id));
  });
  const [first] = waiting.filter(({ id }) => !dismissed.value.includes(id));
  if (!first) return null;
  return (
    <div class="toast warning" role="status" aria-label="Waiting sessions">
      <Icon name="bell" />
      <p>
        <strong>
          <PlainText text={sessionTitle(first)} />
        </strong>{' '}
        waits for you{waiting.length > 1 && `, and ${waiting.length - 1} more`}
      </p>
      <button type="button" onClick={() => app.goTo({ kind: 'session', id: first.id })}>
        Open
      </button>
      <button
        type="button"
        class="quiet icon-only"
        aria-label="Dismiss"
        onClick={() => {
          dismissed.value = waiting.map(({ id }) => id);
        }}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
