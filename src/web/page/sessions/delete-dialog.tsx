import { useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { messageOf } from '../../../protocol/errors.ts';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { deleteSession, SessionInUse } from '../actions/sessions/delete-session.ts';
import { focusMessage } from '../composer/focus-message.ts';
import { Modal } from '../overlay/modal.tsx';
import { useApp } from '../state/app.ts';
import { hasTouchInput } from '../state/browser-signals.ts';
import { sessionTitle } from '../state/list/session-summaries.ts';

/** Asks for confirmation before a session is deleted. It outlives the open session, which may be the deleted one. */
export function DeleteDialog() {
  const session = useApp().deleting.value;
  return session ? <DeleteConfirmation key={session.path} session={session} /> : null;
}

/** The previously focussed element may have disappeared with the session. */
const focusMessageIfNone = () => {
  if (document.activeElement === document.body && !hasTouchInput()) focusMessage();
};

function DeleteConfirmation({ session }: { readonly session: SessionSummary }) {
  const app = useApp();
  const problem = useSignal<unknown>(undefined);
  const isBusy = useSignal(false);
  const trash = session.path.replace(/[^/]*$/, '.trash');
  const close = () => {
    if (app.deleting.value === session) app.deleting.value = undefined;
  };
  // Closes for a dialog of an extension that has to be answered first, and when the user opens another session.
  const initialId = useRef(app.sessionId.peek()).current;
  useSignalEffect(() => {
    const hasDialog = (app.session.value?.view.value.dialogs.length ?? 0) > 0;
    const hasMovedOn = app.sessionId.value !== initialId;
    if (isBusy.peek() ? hasDialog : hasMovedOn) close();
  });
  const isRunning = app.session.value?.view.value.running ?? false;
  const stopsRun =
    session.id === app.sessionId.value ? isRunning : session.status !== undefined && session.status !== 'idle';
  const canForce = problem.value instanceof SessionInUse;
  const confirm = async () => {
    isBusy.value = true;
    try {
      await deleteSession(app, session, canForce ? 'all' : stopsRun ? 'run' : undefined);
      close();
      requestAnimationFrame(focusMessageIfNone);
    } catch (error) {
      problem.value = error;
      isBusy.value = false;
      // When the dialog was closed, the page shows the error.
      if (app.deleting.value !== session) app.session.value?.showError(error);
    }
  };
  return (
    <Modal title="Delete this session?" kind="small" onClose={close}>
      <div class="modal-body">
        <p class="deleted-name">
          <PlainText text={sessionTitle(session)} />
        </p>
        <p class="note">
          It goes to the trash folder <code>{trash}</code>, from where it can be restored.
          {stopsRun && ' What it is doing is stopped.'}
        </p>
        {problem.value !== undefined && (
          <p class="failure" role="alert">
            {messageOf(problem.value)}
            {canForce && ' To delete it anyway stops its work and disconnects the others.'}
          </p>
        )}
        <div class="modal-foot">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="button" class="dangerous" disabled={isBusy.value} onClick={() => void confirm()}>
            {canForce ? 'Delete anyway' : 'Delete'}
          </button>
        </div>
      </div>
    </Modal>
  );
}
