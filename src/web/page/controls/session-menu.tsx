import type { Signal } from '@preact/signals';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { copyText } from '../../code/copy-button.tsx';
import { compact } from '../actions/compaction.ts';
import { clone } from '../actions/sessions/clone-and-fork.ts';
import { exportPage } from '../actions/sessions/export-page.ts';
import { Menu, type MenuItem } from '../overlay/menu.tsx';
import { type App, useApp, useSession } from '../state/app.ts';
import type { LiveSession } from '../state/live-session.ts';
import { addressOf } from '../state/page-location.ts';

/** The menu of the open session. */
export function SessionMenu({ isRenaming }: { readonly isRenaming: Signal<boolean> }) {
  const app = useApp();
  const session = useSession();
  const listed = app.sessions.sessions.value?.find(({ id }) => id === app.sessionId.value);
  const mayChange = app.may('prompt');
  const changes: readonly MenuItem[] = [
    { label: 'Rename', icon: 'rename', onSelect: () => (isRenaming.value = true) },
    { label: 'Clone', icon: 'copy', onSelect: () => void clone(app) },
    { label: 'Export', icon: 'download', onSelect: () => void exportPage(app) },
    { label: 'Compact now', icon: 'compact', onSelect: () => void session.attempt(() => compact(session)) },
  ];
  const items: readonly MenuItem[] = [
    ...(mayChange ? changes : []),
    { label: 'Copy link', icon: 'link', onSelect: () => void copyLink(session) },
    { label: 'Shortcuts', icon: 'keyboard', onSelect: () => (app.sheet.value = 'shortcuts') },
    ...(mayChange && listed ? [deleteMenuItem(app, listed)] : []),
  ];
  return <Menu label="Session" items={items} />;
}

/** Copies the address of the session. */
async function copyLink(session: LiveSession): Promise<void> {
  const address = new URL(addressOf({ kind: 'session', id: session.id.value }), location.href);
  if (await copyText(address.href)) session.showNotice('The link is in the clipboard.');
  else session.showError(new Error(`This browser did not copy the link: ${address.href}`));
}

/** Returns the menu item that asks to delete a session. */
export const deleteMenuItem = ({ deleting }: App, session: SessionSummary): MenuItem => ({
  label: 'Delete',
  icon: 'trash',
  isDangerous: true,
  onSelect: () => {
    deleting.value = session;
  },
});
