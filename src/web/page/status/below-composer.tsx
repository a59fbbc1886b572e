import { Statuses } from './statuses.tsx';
import { Widgets } from './widgets.tsx';

/** The area below the composer: widgets and statuses. */
export const BelowComposer = () => (
  <div class="status-area">
    <Widgets placement="belowEditor" />
    <Statuses />
  </div>
);
