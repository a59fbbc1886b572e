import { useComputed } from '@preact/signals';
import { useApp, useSession } from '../state/app.ts';
import { ConnectionLine } from './connection-line.tsx';
import { DialogAnnouncement, Dialogs } from './dialogs/dialogs.tsx';
import { Statuses, Widgets } from './extension-status.tsx';
import { Outbox } from './pending/outbox.tsx';
import { Queue } from './pending/queue.tsx';
import { Toasts } from './toasts.tsx';

/** The area above the composer: widgets, dialogs, queue and outbox. */
export const AboveComposer = () => (
  <div class="status-area">
    <SkippedFiles />
    <Widgets placement="aboveEditor" />
    <Dialogs />
    <Queue />
    <Outbox />
  </div>
);

/** Overlays of the conversation: the connection state and notices. They move nothing below them. */
export const Announcements = () => (
  <div class="announcements">
    <ConnectionLine />
    <Toasts />
    <DialogAnnouncement />
  </div>
);

/** The area below the composer: widgets and statuses. */
export const BelowComposer = () => (
  <div class="status-area">
    <Widgets placement="belowEditor" />
    <Statuses />
  </div>
);

/** The files that are not used because the project is not trusted. */
function SkippedFiles() {
  const session = useSession();
  const { cwd, skippedFiles } = useComputed(() => session.view.value.state).value;
  const isAdmin = useApp().may('admin');
  if (!skippedFiles) return null;
  return (
    <section class="note" aria-label="Skipped files">
      Not used without trust: {skippedFiles.join(', ').replaceAll(`${cwd}/`, '')}{' '}
      {isAdmin && (
        <button type="button" onClick={() => session.attempt(() => session.remote.setTrust({ trusted: true }))}>
          Trust this project
        </button>
      )}
    </section>
  );
}
