import { useComputed } from '@preact/signals';
import type { OutboxItem } from '../../../../client/remote/outbox.ts';
import { takeBack } from '../../actions/queue.ts';
import { focusMessage } from '../../composer/focus-message.ts';
import { useSession } from '../../state/app.ts';
import { useLater } from '../use-later.ts';
import { WaitingWords } from './waiting-words.tsx';

/** What the server has taken by then was never worth a word. */
const A_MOMENT_MS = 700;

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
  const isLate = useLater(A_MOMENT_MS);
  if (!isLate && !isOffline.value) return null;
  return (
    <li class="waiting-item">
      <span class="waiting-kind">{state === 'sent' ? 'Sending' : 'Not sent yet'}</span> <WaitingWords text={text} />
      {state === 'waiting' && !mayHaveArrived && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            takeBack(session, item);
            focusMessage();
          }}
        >
          Take back
        </button>
      )}
    </li>
  );
}
