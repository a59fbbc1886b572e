import { type Signal, useSignal } from '@preact/signals';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { copy } from '../../code/copy.ts';
import { compact } from '../actions/compacting.ts';
import { exportPage } from '../actions/export-page.ts';
import { clone } from '../actions/moves.ts';
import { Menu, type MenuItem } from '../overlay/menu.tsx';
import { DeleteDialog } from '../sessions/delete-dialog.tsx';
import { deletion } from '../sessions/deletion.ts';
import { useApp, useSession } from '../state/app.ts';
import type { LiveSession } from '../state/live-session.ts';
import { addressOf } from '../state/place.ts';

/** What can be done with the session as a whole. */
export function SessionMenu({ isRenaming }: { readonly isRenaming: Signal<boolean> }) {
  const app = useApp();
  const session = useSession();
  const deleted = useSignal<SessionSummary | undefined>(undefined);
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
    ...(mayChange && listed ? [deletion(() => (deleted.value = listed))] : []),
  ];
  return (
    <>
      <Menu label="Session" items={items} />
      {deleted.value && <DeleteDialog session={deleted.value} onClose={() => (deleted.value = undefined)} />}
    </>
  );
}

/** The address of the session, for another browser. */
async function copyLink(session: LiveSession): Promise<void> {
  const address = new URL(addressOf({ kind: 'session', id: session.id.value }), location.href);
  if (!(await copy(address.href))) session.complain(new Error(`This browser did not copy the link: ${address.href}`));
}
