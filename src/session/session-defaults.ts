import type { Settings } from '../store/settings.ts';
import type { Automatic } from './recovery.ts';
import type { Modes } from './session.ts';

/** How the first session delivers queued messages. */
export const modesIn = ({ steeringMode, followUpMode, interruptMode }: Settings): Modes => ({
  steering: steeringMode ?? 'one-at-a-time',
  followUp: followUpMode ?? 'one-at-a-time',
  interrupt: interruptMode ?? 'wait',
});

/** What the first session does by itself. */
export const automaticIn = ({ compaction, retry }: Settings): Automatic => ({
  compaction: compaction?.enabled ?? true,
  retry: retry?.enabled ?? true,
});
