import { useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { dropQueued, editQueued, giveBackChange, settleQueue } from '../../actions/queue.ts';
import { focusMessage } from '../../composer/focus-message.ts';
import { isTouched } from '../../composer/pointer.ts';
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
  const hindrance = session.hindrance.value;
  const list = useRef<HTMLUListElement>(null);
  /** The message whose change was just left. */
  const left = useRef<string | undefined>(undefined);
  /** What had the focus goes: what takes its place has it, or else whatever is to be said next. */
  const focus = (at: number, name: string) => {
    const button = list.current?.children[at]?.querySelector<HTMLElement>(`[aria-label^=${name}]`);
    if (button) button.focus();
    else if (!isTouched()) focusMessage();
  };
  useLayoutEffect(() => {
    if (left.current === undefined) return;
    focus(
      items.findIndex(({ id }) => id === left.current),
      'Edit',
    );
    left.current = undefined;
  }, [change.value]);
  useEffect(() => {
    if (isKnown) settleQueue(session, writing, items);
  }, [isKnown, items, change.value]);
  const leave = () => {
    left.current = change.value?.queueId;
    change.value = undefined;
  };
  const save = async (changed: QueueChange) => {
    const { queueId, message } = changed;
    leave();
    const outcome = await editQueued(session, { queueId, message });
    if (outcome === 'gone') giveBackChange(session, writing, changed);
    // Whoever changes another one by now keeps both.
    if (outcome === 'failed' && change.value) writing.append(message);
    else if (outcome === 'failed') change.value = changed;
  };
  if (items.length === 0) return null;
  return (
    <ul ref={list} class="queue" aria-label="Queued messages">
      {items.map((item, at) =>
        change.value?.queueId === item.id ? (
          <QueueEditor
            key={item.id}
            text={change.value.message}
            hindrance={hindrance}
            onInput={(message) => {
              if (change.value) change.value = { ...change.value, message };
            }}
            onSave={() => change.value && void save(change.value)}
            onLeave={leave}
          />
        ) : (
          <QueuedMessage
            key={item.id}
            item={item}
            isRunning={isRunning}
            hindrance={hindrance}
            {...(app.may('prompt') && {
              onEdit: () => {
                change.value = { queueId: item.id, before: item.text, message: item.text };
              },
              onDrop: () => {
                focus(at + 1, 'Drop');
                void dropQueued(session, item.id);
              },
            })}
          />
        ),
      )}
    </ul>
  );
}
