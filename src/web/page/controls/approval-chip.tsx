import { useComputed } from '@preact/signals';
import { Icon } from '../icons.tsx';
import { useSession } from '../state/app.ts';
import { Chip } from './chips.tsx';

/** The approval mode, with a warning where less is confined than the user may expect. Absent for agents without modes. */
export function ApprovalChip() {
  const session = useSession();
  const { approvalMode: mode, sandbox } = useComputed(() => session.view.value.state).value;
  if (mode === undefined) return null;
  const lacksSandbox = mode === 'auto' && sandbox?.status === 'unavailable';
  const warning =
    mode === 'full'
      ? 'Everything runs without a question and outside a sandbox'
      : lacksSandbox && `No sandbox works here, so each command needs your approval. ${sandbox.reason ?? ''}`;
  return (
    <Chip
      label={`Approvals: ${mode}${warning ? `. ${warning}` : ''}`}
      kind={warning ? 'caution' : undefined}
      opens="approvals"
    >
      <Icon name={warning ? 'alert' : 'shield'} />
      {lacksSandbox ? (
        <>
          <span class="when-wide">auto,</span> no sandbox
        </>
      ) : mode === 'full' ? (
        'full access'
      ) : (
        mode
      )}
    </Chip>
  );
}
