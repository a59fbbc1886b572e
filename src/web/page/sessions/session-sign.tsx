import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { useApp } from '../state/app.ts';

const names = { running: 'Running', waiting: 'Waiting for you', idle: 'Idle', unread: 'Not read yet' };

interface SessionSignProps {
  readonly session: SessionSummary;
  readonly isCurrent: boolean;
}

/** What a session does, in a small sign. One that has no agent and nothing new has none. */
export function SessionSign({ session, isCurrent }: SessionSignProps) {
  const { unread } = useApp();
  const kind = unread.has(session) && !isCurrent ? 'unread' : session.status;
  if (kind === undefined) return null;
  if (kind === 'waiting') return <span class="sign waiting">{names.waiting}</span>;
  return <span class={`sign ${kind}`} role="img" aria-label={names[kind]} title={names[kind]} />;
}
