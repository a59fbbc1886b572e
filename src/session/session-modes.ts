import type { InterruptMode, QueueMode } from '../protocol/generated/vocabulary.ts';
import type { Settings } from '../store/settings.ts';
import type { AutoFeatures } from './run/recovery.ts';

/** How queued messages are delivered. */
export interface DeliveryModes {
  steering: QueueMode;
  followUp: QueueMode;
  interrupt: InterruptMode;
}

/** Queue modes of a new session from the settings. */
export const deliveryModesFrom = ({ steeringMode, followUpMode, interruptMode }: Settings): DeliveryModes => ({
  steering: steeringMode ?? 'one-at-a-time',
  followUp: followUpMode ?? 'one-at-a-time',
  interrupt: interruptMode ?? 'wait',
});

/** Automatic steps of a new session from the settings. */
export const autoFeaturesFrom = ({ compaction, retry }: Settings): AutoFeatures => ({
  compaction: compaction?.enabled ?? true,
  retry: retry?.enabled ?? true,
});
