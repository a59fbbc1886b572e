import type { Settings } from '../store/settings.ts';
import type { AutoFeatures } from './recovery.ts';
import type { DeliveryModes } from './session.ts';

/** How the first session delivers queued messages. */
export const deliveryModesFrom = ({ steeringMode, followUpMode, interruptMode }: Settings): DeliveryModes => ({
  steering: steeringMode ?? 'one-at-a-time',
  followUp: followUpMode ?? 'one-at-a-time',
  interrupt: interruptMode ?? 'wait',
});

/** What the first session does by itself. */
export const autoFeaturesFrom = ({ compaction, retry }: Settings): AutoFeatures => ({
  compaction: compaction?.enabled ?? true,
  retry: retry?.enabled ?? true,
});
