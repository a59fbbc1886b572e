import { useComputed } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { dropQueued, editQueued, giveBackChange, settleQueue } from '../../actions/queue.ts';
import { useApp, useSession, useWriting } from '../../state/app.ts';
import type { QueueChange } from '../../state/writing/writing.ts';
import { QueueEditor } from './queue-editor.tsx';
import { QueuedMessage } from './queued-message.tsx';

/** Messages that wait for their turn in the run, or for its end. They can be changed and dropped until then. */
export function Queue() {
  const app = useApp();
  const session = useSession();
  const items = useComputed(() => session.view.value.queue).value;
  const isKnown = session.isKnown.value;
  const isRunning = useComputed(() => session.view.value.running).value;
  const writing = useWriting();
  const { change } = writing;
  useEffect(() => {
    if (isKnown) settleQueue(session, writing, items);
  }, [isKnown, items, change.value]);
  const save = async (changed: QueueChange) => {
    const { queueId, message } = changed;
    change.value = undefined;
    const outcome = await editQueued(session, { queueId, message });
    if (outcome === 'gone') giveBackChange(session, writing, changed);
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
