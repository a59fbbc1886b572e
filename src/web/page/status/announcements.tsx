import { ConnectionLine } from './connection-line.tsx';
import { DialogAnnouncement } from './dialogs/dialog-announcement.tsx';
import { Toasts } from './toasts.tsx';

/** What lies over the conversation and moves nothing in it: how the connection stands, and what there is to be told. */
export const Announcements = () => (
  <div class="announcements">
    <ConnectionLine />
    <Toasts />
    <DialogAnnouncement />
  </div>
);
