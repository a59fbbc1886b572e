import { useComputed } from '@preact/signals';
import { Icon } from '../icons.tsx';
import { useApp, useSession } from '../state/app.ts';
import { useAfterDelay } from './use-after-delay.ts';

/** A run that has lasted this long may be one to come back to. */
const NOTIFICATION_OFFER_DELAY_MS = 20_000;

/** Asks whether the system is to tell when a run is over, once that would have been of use, and once only. */
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
