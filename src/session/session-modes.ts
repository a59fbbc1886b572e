import type { Settings } from '../store/settings.ts';
import type { AutoFeatures } from './recovery.ts';
import type { DeliveryModes } from './session.ts';

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
