import { useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { messageOf } from '../../../protocol/errors.ts';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { remove } from '../actions/sessions/remove.ts';
import { focusMessage } from '../composer/focus-message.ts';
import { isTouched } from '../composer/pointer.ts';
import { Modal } from '../overlay/modal.tsx';
import { useApp } from '../state/app.ts';
import { nameOf } from '../state/list/groups.ts';

/** Asks once, and says where a session goes. It outlives the session that is looked at, which may be the one. */
export function DeleteDialog() {
  const session = useApp().deleted.value;
  return session ? <Question key={session.path} session={session} /> : null;
}

/** What was focussed before may have gone with the session. */
const focusIfNowhere = () => {
  if (document.activeElement === document.body && !isTouched()) focusMessage();
};

function Question({ session }: { readonly session: SessionSummary }) {
  const app = useApp();
  const problem = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const trash = session.path.replace(/[^/]*$/, '.trash');
  const close = () => {
    if (app.deleted.value === session) app.deleted.value = undefined;
  };
  // It may be an extension that has to be asked first, or somebody has gone elsewhere.
  const from = useRef(app.sessionId.peek()).current;
  useSignalEffect(() => {
    const isAsked = (app.session.value?.view.value.dialogs.length ?? 0) > 0;
    const isLeft = app.sessionId.value !== from;
    if (isBusy.peek() ? isAsked : isLeft) close();
  });
  const confirm = async () => {
    isBusy.value = true;
    try {
      await remove(app, session);
      close();
      requestAnimationFrame(focusIfNowhere);
    } catch (error) {
      problem.value = messageOf(error);
      isBusy.value = false;
      // Whoever has closed this looks at the page.
      if (app.deleted.value !== session) app.session.value?.complain(error);
    }
  };
  return (
    <Modal title="Delete this session?" kind="small" onClose={close}>
      <div class="modal-body">
        <p class="deleted-name">
          <PlainText text={nameOf(session)} />
        </p>
        <p class="note">
          It goes to the trash folder <code>{trash}</code>, from where it can be taken back.
          {session.status === 'running' && session.id === app.sessionId.value && ' What it is doing is stopped.'}
        </p>
        {problem.value !== undefined && (
          <p class="failure" role="alert">
            {problem.value}
          </p>
        )}
        <div class="modal-foot">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="button" class="dangerous" disabled={isBusy.value} onClick={() => void confirm()}>
            Delete
          </button>
        </div>
      </div>
    </Modal>
  );
}
