import type { ApprovalMode, SavedApproval } from '../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../state/live-session.ts';

/**
 * Sets the approval mode. A mode that confines commands also turns the sandbox on where it is off: without one it could
 * only ask.
 */
export function chooseApprovalMode({ remote, view }: LiveSession, mode: ApprovalMode): Promise<unknown> {
  const isUnconfined = view.value.state.sandbox?.status === 'off' && mode !== 'full';
  return remote.setApprovalMode({ mode, ...(isUnconfined ? { sandbox: 'auto' } : {}) });
}

/** Lists the approvals of the session and of its project. */
export async function savedApprovals({ remote }: LiveSession): Promise<readonly SavedApproval[]> {
  const { approvals } = await remote.getApprovals();
  return approvals;
}

/** Withdraws an approval. */
export const revokeApproval = ({ remote }: LiveSession, { rule }: SavedApproval): Promise<unknown> =>
  remote.removeApproval({ rule });
