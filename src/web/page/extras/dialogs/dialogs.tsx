import { useComputed } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { tellOfEnds } from '../../actions/dialogs.ts';
import { useApp, useSession } from '../../state/app.ts';
import { DialogForm } from './dialog-form.tsx';
import { useLeading } from './focus.ts';

/** Questions of extensions, in the order they came, until they are answered here or elsewhere. */
export function Dialogs() {
  const app = useApp();
  const session = useSession();
  const dialogs = useComputed(() => session.view.value.dialogs).value;
  const place = useRef<HTMLDivElement>(null);
  const { answered, came } = useLeading(
    place,
    dialogs.map(({ id }) => id),
  );
  useEffect(() => tellOfEnds(session, app), [session, app]);
  if (dialogs.length === 0) return null;
  return (
    <div class="dialogs" ref={place} onFocusIn={came}>
      {dialogs.map((dialog) => (
        <DialogForm key={dialog.id} dialog={dialog} onAnswered={() => answered(dialog.id)} />
      ))}
    </div>
  );
}
