import { useLayoutEffect, useRef } from 'preact/hooks';
import { isBeside } from '../overlay/is-beside.ts';
import { useApp } from '../state/app.ts';
import { ListHead } from './list-head.tsx';
import { SessionGroups } from './session-groups.tsx';
import { VisitorCorner } from './visitor-corner.tsx';

/** The sessions of this server: beside the one that is looked at, or over it where there is no room. */
export function Sidebar() {
  const { isNarrow, isListOpen } = useApp();
  if (isNarrow.value) return isListOpen.value ? <Drawer /> : null;
  return (
    <nav class="sidebar" aria-label="Sessions">
      <Content />
    </nav>
  );
}

/** Escape, a click beside it and a choice close it. */
function Drawer() {
  const { isListOpen } = useApp();
  const place = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = place.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const close = () => {
    isListOpen.value = false;
  };
  return (
    <dialog
      ref={place}
      class="drawer"
      aria-label="Sessions"
      onClose={close}
      onMouseDown={(event) => isBeside(place.current, event) && close()}
    >
      <nav class="sidebar" aria-label="Sessions">
        <Content />
      </nav>
    </dialog>
  );
}

const Content = () => (
  <>
    <ListHead />
    <SessionGroups />
    <VisitorCorner />
  </>
);
