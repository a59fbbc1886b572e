import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import type { MenuItem } from '../overlay/menu.tsx';
import type { App } from '../state/app.ts';

/** Returns the menu item that asks to delete a session. */
export const deleteMenuItem = ({ deleting }: App, session: SessionSummary): MenuItem => ({
  label: 'Delete',
  icon: 'trash',
  isDangerous: true,
  onSelect: () => {
    deleting.value = session;
  },
});
