const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats the time since `then` in a few letters; empty for an invalid time. */
export function ago(then: number, now: number): string {
  if (Number.isNaN(then)) return '';
  const past = Math.max(0, now - then);
  if (past < MINUTE) return 'now';
  if (past < HOUR) return `${Math.floor(past / MINUTE)}\u00a0min`;
  if (past < DAY) return `${Math.floor(past / HOUR)}\u00a0h`;
  if (past < 7 * DAY) return `${Math.floor(past / DAY)}\u00a0d`;
  const isThisYear = new Date(then).getFullYear() === new Date(now).getFullYear();
  return new Date(then).toLocaleDateString(undefined, {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  });
}

/** Returns the list group of a time. */
export function dayGroup(then: number, now: number): 'Today' | 'Yesterday' | 'This week' | 'Older' {
  const days = Math.round((midnight(now) - midnight(then)) / DAY);
  if (days < 1) return 'Today';
  if (days === 1) return 'Yesterday';
  return days < 7 ? 'This week' : 'Older';
}

const midnight = (time: number) => new Date(time).setHours(0, 0, 0, 0);
