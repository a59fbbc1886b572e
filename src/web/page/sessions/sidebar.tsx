import { useModalDialog } from '../overlay/use-modal-dialog.ts';
import { useApp } from '../state/app.ts';
import { AccountPanel } from './account-panel.tsx';
import { ListHead } from './list-head.tsx';
import { SessionGroups } from './session-groups.tsx';

/** The session list: beside the session, or over it on narrow screens. */
export function Sidebar() {
  const { isNarrow, isListOpen } = useApp();
  if (isNarrow.value) return isListOpen.value ? <Drawer /> : null;
  return (
    <nav class="sidebar" aria-label="Sessions">
      <Content />
    </nav>
  );
}

/** Opening a session closes it as well. */
function Drawer() {
  const { isListOpen } = useApp();
  const { dialog } = useModalDialog(() => {
    isListOpen.value = false;
  });
  return (
    <dialog {...dialog} class="drawer" aria-label="Sessions">
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
    <AccountPanel />
  </>
);
