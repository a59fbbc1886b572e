import { useModalDialog } from '../overlay/use-modal-dialog.ts';
import { useApp } from '../state/app.ts';
import { ListHead } from './list-head.tsx';
import { SessionGroups } from './session-groups.tsx';
import { AccountPanel } from './account-panel.tsx';

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

/** A choice closes it, too. */
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
