import { ConnectionLine } from './connection-line.tsx';
import { DialogAnnouncement } from './dialogs/dialog-announcement.tsx';
import { Toasts } from './toasts.tsx';

/** Overlays of the conversation: the connection state and notices. They move nothing below them. */
export const Announcements = () => (
  <div class="announcements">
    <ConnectionLine />
    <Toasts />
    <DialogAnnouncement />
  </div>
);
