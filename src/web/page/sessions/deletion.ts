import type { MenuItem } from '../overlay/menu.tsx';

/** The last thing that can be done with a session. */
export const deletion = (onSelect: () => void): MenuItem => ({
  label: 'Delete',
  icon: 'trash',
  isDangerous: true,
  onSelect,
});
