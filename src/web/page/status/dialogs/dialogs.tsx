import { useComputed } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { announceResolvedDialogs } from '../../actions/dialogs.ts';
import { useApp, useSession } from '../../state/app.ts';
import { DialogForm } from './dialog-form.tsx';
import { useDialogFocus } from './dialog-focus.ts';

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
