import { useComputed } from '@preact/signals';
import { Icon } from '../icons.tsx';
import { useApp, useSession } from '../state/app.ts';
import { useAfterDelay } from './use-after-delay.ts';

// A run of this length may be worth a notification.
const NOTIFICATION_OFFER_DELAY_MS = 20_000;

/** Offers system notices once, during a long run. */
export function NotificationOffer() {
  const { systemNotices } = useApp().attention;
  const { view, connection } = useSession();
  const isRunning = useComputed(() => view.value.running && connection.value.state === 'open');
  return isRunning.value && systemNotices.isOffered.value ? <DelayedOffer /> : null;
}

function DelayedOffer() {
  const { systemNotices } = useApp().attention;
  if (!useAfterDelay(NOTIFICATION_OFFER_DELAY_MS)) return null;
  return (
    <div class="toast offer">
      <Icon name="bell" />
      <button type="button" onClick={() => void systemNotices.accept()}>
        Tell me when it is done
      </button>
      <button type="button" class="quiet icon-only" aria-label="No, thanks" onClick={() => systemNotices.decline()}>
        <Icon name="close" />
      </button>
    </div>
  );
}
