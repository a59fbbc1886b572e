import type { LiveSession } from '../state/live-session.ts';

/** Gives the session that is looked at a name. One without letters changes nothing. */
export async function nameSession(session: LiveSession, name: string): Promise<void> {
  const wanted = name.trim();
  if (wanted === '' || wanted === session.view.value.state.sessionName) return;
  await session.attempt(() => session.remote.setSessionName({ name: wanted }));
}
