import { Dialogs } from './dialogs/dialogs.tsx';
import { Outbox } from './waiting/outbox.tsx';
import { Queue } from './waiting/queue.tsx';
import { Widgets } from './widgets.tsx';

/** What extensions show and ask, and what waits to be said: all that is between the conversation and the composer. */
export const Extras = () => (
  <div class="extras">
    <Widgets placement="aboveEditor" />
    <Dialogs />
    <Queue />
    <Outbox />
  </div>
);
