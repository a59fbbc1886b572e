import { useComputed } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { PlainText } from '../../../code/plain-text.tsx';
import { oneLine } from '../../../format.ts';
import { announceResolvedDialogs } from '../../actions/dialogs.ts';
import { keysText } from '../../controls/shortcuts/keyboard.ts';
import { useApp, useSession } from '../../state/app.ts';
import { DIALOG_KEYS, useDialogFocus } from './dialog-focus.ts';
import { DialogForm } from './dialog-form.tsx';

/** The open dialogs of extensions, in their order. */
export function Dialogs() {
  const app = useApp();
  const session = useSession();
  const dialogs = useComputed(() => session.view.value.dialogs).value;
  const container = useRef<HTMLDivElement>(null);
  const { onAnswered, onFocusIn } = useDialogFocus(
    container,
    dialogs.map(({ id }) => id),
  );
  useEffect(() => announceResolvedDialogs(session, app), [session, app]);
  if (dialogs.length === 0) return null;
  return (
    <div class="dialogs" ref={container} onFocusIn={onFocusIn}>
      {dialogs.map((dialog) => (
        <DialogForm key={dialog.id} dialog={dialog} onAnswered={() => onAnswered(dialog.id)} />
      ))}
    </div>
  );
}

/** Announces the first dialog to screen readers, with its shortcut and the number of further ones. */
export function DialogAnnouncement() {
  const { view } = useSession();
  const title = useComputed(() => view.value.dialogs[0]?.title).value;
  const more = useComputed(() => view.value.dialogs.length - 1).value;
  return (
    <p class="hidden-label" role="status">
      {title !== undefined && (
        <>
          An extension asks: <PlainText text={oneLine(title, 200)} /> ({keysText(DIALOG_KEYS)} leads there)
          {more > 0 && `, and ${more} more`}
        </>
      )}
    </p>
  );
}
