import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { messageOf } from '../../../../protocol/errors.ts';
import type { SavedApproval } from '../../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { formatDateTime } from '../../../format.ts';
import { revokeApproval, savedApprovals } from '../../actions/approvals.ts';
import { useSession } from '../../state/app.ts';
import { useRequest } from '../../state/use-request.ts';

/** The approvals of the session and of its project, each with a button that revokes it. */
export function SavedApprovals() {
  const session = useSession();
  const { value: loaded, problem } = useRequest(() => savedApprovals(session)).value;
  const revoked = useSignal<readonly string[]>([]);
  const refusal = useSignal<string | undefined>(undefined);
  const heading = useRef<HTMLHeadingElement>(null);
  const revoke = async (approval: SavedApproval) => {
    try {
      await session.track(() => revokeApproval(session, approval));
      refusal.value = undefined;
      revoked.value = [...revoked.value, approval.rule];
      // The button of the row is gone.
      heading.current?.focus();
    } catch (error) {
      refusal.value = messageOf(error);
    }
  };
  const shown = loaded?.filter(({ rule }) => !revoked.value.includes(rule));
  const failure = refusal.value ?? problem;
  return (
    <section class="saved-approvals">
      <h3 ref={heading} tabIndex={-1}>
        Saved approvals
      </h3>
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      {shown?.length === 0 && <p class="note">None: what you always allow is listed here.</p>}
      <ul>
        {shown?.map((approval) => (
          <li key={`${approval.scope} ${approval.rule}`}>
            <span title={approval.at === undefined ? undefined : formatDateTime(approval.at)}>
              <code>
                <PlainText text={approval.rule} />
              </code>{' '}
              <span class="note">{approval.scope === 'project' ? 'in this project' : 'in this session'}</span>
            </span>
            <button
              type="button"
              class="revoke"
              aria-label={`Revoke ${approval.rule}`}
              onClick={() => void revoke(approval)}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
