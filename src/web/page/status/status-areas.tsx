import { Dialogs } from './dialogs/dialogs.tsx';
import { Outbox } from './pending/outbox.tsx';
import { Queue } from './pending/queue.tsx';
import { Widgets } from './widgets.tsx';

/** The area above the composer: widgets, dialogs, queue and outbox. */
export const AboveComposer = () => (
  <div class="status-area">
    <Widgets placement="aboveEditor" />
    <Dialogs />
    <Queue />
    <Outbox />
  </div>
);
