import { useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { tellOfEnds } from '../../actions/dialogs.ts';
import { useSession } from '../../state/app.ts';
import { DialogForm } from './dialog-form.tsx';
import { focusFirst, isFocusFree } from './focus.ts';

/** Questions of extensions, in the order they came, until they are answered here or elsewhere. */
export function Dialogs() {
  const session = useSession();
  const dialogs = useComputed(() => session.view.value.dialogs).value;
  const place = useRef<HTMLDivElement>(null);
  const before = useRef<HTMLElement>(null);
  const ids = dialogs.map(({ id }) => id).join(' ');
  useEffect(() => tellOfEnds(session), [session]);
  useLayoutEffect(() => {
    const active = document.activeElement;
    if (!isFocusFree(active)) return;
    if (ids === '') {
      if (before.current?.isConnected) before.current.focus();
      return;
    }
    if (active instanceof HTMLElement && active !== document.body) before.current = active;
    focusFirst(place.current);
  }, [ids]);
  if (dialogs.length === 0) return null;
  return (
    <div class="dialogs" ref={place}>
      {dialogs.map((dialog) => (
        <DialogForm key={dialog.id} dialog={dialog} />
      ))}
    </div>
  );
}
