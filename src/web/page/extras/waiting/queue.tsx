import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { dropQueued, editQueued, giveBack } from '../../actions/queue.ts';
import { useApp, useSession } from '../../state/app.ts';
import { QueueEditor } from './queue-editor.tsx';
import { QueuedMessage } from './queued-message.tsx';

/** A message that is being changed. */
interface Change {
  readonly queueId: string;
  readonly before: string;
  readonly message: string;
}

/** Messages that wait for their turn in the run, or for its end. They can be changed and dropped until then. */
export function Queue() {
  const app = useApp();
  const session = useSession();
  const items = useComputed(() => session.view.value.queue).value;
  const isRunning = useComputed(() => session.view.value.running).value;
  const change = useSignal<Change | undefined>(undefined);
  useEffect(() => {
    const { queueId, message, before } = change.value ?? {};
    if (queueId === undefined || items.some(({ id }) => id === queueId)) return;
    change.value = undefined;
    if (message !== undefined && message !== before) giveBack(app, session, message);
  }, [items]);
  const save = async (changed: Change) => {
    const { queueId, message } = changed;
    change.value = undefined;
    const outcome = await editQueued(session, { queueId, message });
    if (outcome === 'gone') giveBack(app, session, message);
    if (outcome === 'failed') change.value = changed;
  };
  if (items.length === 0) return null;
  return (
    <ul class="queue" aria-label="Queued messages">
      {items.map((item) =>
        change.value?.queueId === item.id ? (
          <QueueEditor
            key={item.id}
            text={change.value.message}
            onInput={(message) => {
              if (change.value) change.value = { ...change.value, message };
            }}
            onSave={() => change.value && void save(change.value)}
            onLeave={() => {
              change.value = undefined;
            }}
          />
        ) : (
          <QueuedMessage
            key={item.id}
            item={item}
            isRunning={isRunning}
            {...(app.may('prompt') && {
              onEdit: () => {
                change.value = { queueId: item.id, before: item.text, message: item.text };
              },
              onDrop: () => void dropQueued(session, item.id),
            })}
          />
        ),
      )}
    </ul>
  );
}
