import { useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { dropQueued, editQueued, restoreEdit, syncQueue } from '../../actions/queue.ts';
import { focusMessage } from '../../composer/focus-message.ts';
import { useApp, useDraft, useSession } from '../../state/app.ts';
import { hasTouchInput } from '../../state/browser-signals.ts';
import type { QueueEdit } from '../../state/draft/message-draft.ts';
import { QueueEditor } from './queue-editor.tsx';
import { QueuedMessage } from './queued-message.tsx';

/** Queued messages. They can be edited and dropped until they are delivered. */
export function Queue() {
  const app = useApp();
  const session = useSession();
  const items = useComputed(() => session.view.value.queue).value;
  const isLoaded = session.isLoaded.value;
  const isRunning = useComputed(() => session.view.value.running).value;
  const draft = useDraft();
  const { queueEdit } = draft;
  const blockedBy = session.blockedBy.value;
  const list = useRef<HTMLUListElement>(null);
  // The message whose editor was just closed.
  const closedId = useRef<string | undefined>(undefined);
  // The focussed control disappears: its successor gets the focus, or else the message box.
  const focus = (at: number, name: string) => {
    const button = list.current?.children[at]?.querySelector<HTMLElement>(`[aria-label^=${name}]`);
    if (button) button.focus();
    else if (!hasTouchInput()) focusMessage();
  };
  useLayoutEffect(() => {
    if (closedId.current === undefined) return;
    focus(
      items.findIndex(({ id }) => id === closedId.current),
      'Edit',
    );
    closedId.current = undefined;
  }, [queueEdit.value]);
  useEffect(() => {
    if (isLoaded) syncQueue(session, draft, items);
  }, [isLoaded, items, queueEdit.value]);
  const closeEditor = () => {
    closedId.current = queueEdit.value?.queueId;
    queueEdit.value = undefined;
  };
  const save = async (edit: QueueEdit) => {
    const { queueId, message } = edit;
    closeEditor();
    const outcome = await editQueued(session, { queueId, message });
    if (outcome === 'removed') restoreEdit(session, draft, edit);
    // An edit that was started in the meantime is kept, too.
    if (outcome === 'failed' && queueEdit.value) draft.append(message);
    else if (outcome === 'failed') queueEdit.value = edit;
  };
  if (items.length === 0) return null;
  return (
    <ul ref={list} class="queue" aria-label="Queued messages">
      {items.map((item, at) =>
        queueEdit.value?.queueId === item.id ? (
          <QueueEditor
            key={item.id}
            text={queueEdit.value.message}
            blockedBy={blockedBy}
            onInput={(message) => {
              if (queueEdit.value) queueEdit.value = { ...queueEdit.value, message };
            }}
            onSave={() => queueEdit.value && void save(queueEdit.value)}
            onCancel={closeEditor}
          />
        ) : (
          <QueuedMessage
            key={item.id}
            item={item}
            isRunning={isRunning}
            blockedBy={blockedBy}
            {...(app.may('prompt') && {
              onEdit: () => {
                queueEdit.value = { queueId: item.id, before: item.text, message: item.text };
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
