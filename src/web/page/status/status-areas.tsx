import { Dialogs } from './dialogs/dialogs.tsx';
import { Outbox } from './pending/outbox.tsx';
import { Queue } from './pending/queue.tsx';
import { Widgets } from './widgets.tsx';

/** What extensions show and ask, and what waits to be said: all that is between the conversation and the composer. */
export const AboveComposer = () => (
  <div class="extras">
    <Widgets placement="aboveEditor" />
    <Dialogs />
    <Queue />
    <Outbox />
  </div>
);
