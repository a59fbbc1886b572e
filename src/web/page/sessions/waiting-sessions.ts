import type { App } from '../state/app.ts';

/** Names the number of sessions that wait for an answer. */
export const waitingText = (count: number): string => (count === 1 ? '1 waits for you' : `${count} wait for you`);

/** Opens the next session that waits for an answer, from the open one on. */
export function goToWaiting(app: App): void {
  const { waiting, sessions, sessionId } = app;
  const all = sessions.sessions.value ?? [];
  const after = all.slice(all.findIndex(({ id }) => id === sessionId.value) + 1);
  const next = after.find((session) => waiting.value.includes(session)) ?? waiting.value[0];
  if (next) app.goTo({ kind: 'session', id: next.id });
}
