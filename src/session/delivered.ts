import type { SessionLog } from '../store/sessions/session-log.ts';

/** Queue ids of messages that were delivered to the conversation. */
export function* deliveredQueueIds(log: SessionLog): Generator<string> {
  for (const entry of log.find('"queueId":"')) {
    if (entry.type === 'message' && entry.queueId !== undefined) yield entry.queueId;
  }
}
