import { useComputed } from '@preact/signals';
import type { ApprovalMode, SandboxState } from '../../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { ownProperty } from '../../../untyped.ts';
import { chooseApprovalMode } from '../../actions/approvals.ts';
import { Icon } from '../../icons.tsx';
import { useSession } from '../../state/app.ts';
import { PickSheet } from './pick-sheet.tsx';
import { SavedApprovals } from './saved-approvals.tsx';

// The calls that need no approval. An agent may have other modes.
const descriptions: Readonly<Record<ApprovalMode, string>> = {
  plan: 'reading, and commands that change nothing; edits are refused',
  ask: 'reading; edits and commands need your approval',
  edit: 'reading and edits in the project; commands need your approval',
  auto: 'reading, edits in the project, and commands in the sandbox',
  full: 'everything, outside a sandbox unless one is required',
};

/** The sheet that chooses what runs without a question, shows the sandbox, and lists the saved approvals. */
export function ApprovalsSheet() {
  const session = useSession();
  const { approvalMode, approvalModes, sandbox } = useComputed(() => session.view.value.state).value;
  const modes = approvalModes ?? (Object.keys(descriptions) as ApprovalMode[]);
  return (
    <PickSheet<ApprovalMode>
      title="What runs without a question"
      label="Approval modes"
      hasSearch={false}
      load={async () => modes}
      itemOf={(mode) => ({
        id: mode,
        words: mode,
        isCurrent: mode === approvalMode,
        content: (
          <span class="level-row mode-row">
            <span class="level">{mode}</span> <span class="note">{ownProperty(descriptions, mode)}</span>
          </span>
        ),
      })}
      choose={(mode) => chooseApprovalMode(session, mode)}
      below={
        <>
          {sandbox && <Sandbox sandbox={sandbox} />}
          <SavedApprovals />
        </>
      }
    />
  );
}

const networks: Readonly<Record<string, string>> = {
  ask: 'each new host needs your approval',
  none: 'none',
  open: 'open',
};

/** The state of the sandbox, and how to get one. */
function Sandbox({ sandbox: { status, engine, reason, network, writable } }: { readonly sandbox: SandboxState }) {
  const isMissing = status === 'unavailable';
  return (
    <section class={`sandbox ${status}`} aria-label="Sandbox">
      <p>
        <Icon name={isMissing ? 'alert' : 'shield'} />
        <strong>{headings[status] ?? status}</strong>
        {engine !== undefined && <span class="note">{engine}</span>}
      </p>
      {isMissing && (
        <p class="note">
          {reason !== undefined && (
            <>
              <PlainText text={reason} />
              <br />
            </>
          )}
          Run <code>tau doctor</code> on the machine of the agent: it names the remedy.
        </p>
      )}
      {status === 'off' && <p class="note">Commands run with your rights. Any mode but full turns it on.</p>}
      {status === 'external' && <p class="note">This machine counts as the sandbox: commands may change all of it.</p>}
      {status === 'on' && (
        <dl class="totals">
          <dt>Commands may change</dt>
          <dd>{writable?.length ? <PlainText text={writable.join(', ')} /> : 'no folder'}</dd>
          {network !== undefined && <dt>Network</dt>}
          {network !== undefined && <dd>{ownProperty(networks, network) ?? network}</dd>}
        </dl>
      )}
    </section>
  );
}

const headings: Readonly<Record<string, string>> = {
  on: 'Sandbox on',
  off: 'Sandbox off',
  unavailable: 'No sandbox works here',
  external: 'External sandbox',
};
