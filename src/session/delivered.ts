import type { SessionLog } from '../store/sessions/session-log.ts';

/** The ids under which messages waited that have become part of the conversation since. */
export function* deliveredQueueIds(log: SessionLog): Generator<string> {
  for (const entry of log.find('"queueId":"')) {
    if (entry.type === 'message' && entry.queueId !== undefined) yield entry.queueId;
  }
}
