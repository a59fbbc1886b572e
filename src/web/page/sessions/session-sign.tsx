import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { useApp } from '../state/app.ts';

const names = { running: 'Running', waiting: 'Waiting for you', idle: 'Idle', unread: 'Not read yet' };

interface SessionSignProps {
  readonly session: SessionSummary;
  readonly isCurrent: boolean;
}

// Shows the state of a session; sessions without agent and unread messages have no sign.
export function SessionSign({ session, isCurrent }: SessionSignProps) {
  const { unread } = useApp();
  const kind = unread.has(session) && !isCurrent ? 'unread' : session.status;
  if (kind === undefined) return null;
  if (kind === 'waiting') return <span class="sign waiting">{names.waiting}</span>;
  return <span class={`sign ${kind}`} role="img" aria-label={names[kind]} title={names[kind]} />;
}
