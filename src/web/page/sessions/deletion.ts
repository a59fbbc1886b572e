import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import type { MenuItem } from '../overlay/menu.tsx';
import type { App } from '../state/app.ts';

/** The last thing that can be done with a session. It is asked for once more. */
export const deleteMenuItem = ({ deleting }: App, session: SessionSummary): MenuItem => ({
  label: 'Delete',
  icon: 'trash',
  isDangerous: true,
  onSelect: () => {
    deleting.value = session;
  },
});
