import { useComputed } from '@preact/signals';
import type { OutboxItem } from '../../../../client/remote/outbox.ts';
import { withdrawUnsent } from '../../actions/queue.ts';
import { focusMessage } from '../../composer/focus-message.ts';
import { useSession } from '../../state/app.ts';
import { useAfterDelay } from '../use-after-delay.ts';
import { MessagePreview } from './queued-message.tsx';

// A message acknowledged within this time is not shown.
const UNSENT_DELAY_MS = 700;

/** Messages that the server has not acknowledged. */
export function Outbox() {
  const { outbox } = useSession();
  if (outbox.value.length === 0) return null;
  return (
    <ul class="outbox" aria-label="Not sent yet">
      {outbox.value.map((item) => (
        <Unsent key={item.clientMessageId} item={item} />
      ))}
    </ul>
  );
}

function Unsent({ item }: { readonly item: OutboxItem }) {
  const { text, state, mayHaveArrived } = item;
  const session = useSession();
  const { connection } = session;
  const isOffline = useComputed(() => connection.value.state !== 'open' && connection.value.state !== 'connecting');
  const isLate = useAfterDelay(UNSENT_DELAY_MS);
  if (!isLate && !isOffline.value) return null;
  return (
    <li class="waiting-item">
      <span class="waiting-kind">{state === 'sent' ? 'Sending' : 'Not sent yet'}</span> <MessagePreview text={text} />
      {state === 'waiting' && !mayHaveArrived && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            withdrawUnsent(session, item);
            focusMessage();
          }}
        >
          Take back
        </button>
      )}
    </li>
  );
}
