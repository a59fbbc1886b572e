import { ConnectionLost } from '../../../../client/errors.ts';
import type { StateSyncedEvent } from '../../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../../state/live-session.ts';
import type { PageLocation } from '../../state/page-location.ts';

/**
 * Whether a session is new and in mode `full`, the default for programs. After a lost connection the first prompt may
 * be there before this request, so it does not count; an answer does: the user may have chosen `full` meanwhile.
 */
export const needsConfinement = (
  origin: PageLocation,
  { state, messages }: Pick<StateSyncedEvent, 'state' | 'messages'>,
): boolean =>
  origin.kind === 'new' &&
  origin.id === state.sessionId &&
  state.approvalMode === 'full' &&
  messages.every(({ role }) => role === 'user');

/**
 * Requests approvals and a sandbox, once, for a session that the page creates; returns a function that stops this. The
 * request is sent on the first snapshot, like prompts that wait for it; as a control command it overtakes them.
 */
export function confineNewSession(session: LiveSession): () => void {
  let isDone = false;
  return session.remote.onEvent((event) => {
    if (event.type !== 'state_synced' || isDone || !needsConfinement(session.origin, event)) return;
    isDone = true;
    session
      .track(() => session.remote.setApprovalMode({ mode: 'auto', sandbox: 'auto' }))
      .catch((error: unknown) => {
        // The next connection repeats it.
        if (error instanceof ConnectionLost) isDone = false;
        else session.showError(error);
      });
  });
}
