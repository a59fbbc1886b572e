import { Statuses } from './statuses.tsx';
import { Widgets } from './widgets.tsx';

/** What extensions show below the composer. */
export const BelowComposer = () => (
  <div class="extras">
    <Widgets placement="belowEditor" />
    <Statuses />
  </div>
);
