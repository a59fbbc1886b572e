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
  const isFull = mode === 'full';
  const warning = isFull
    ? `Everything runs without a question${sandbox?.status === 'on' ? '' : ' and outside a sandbox'}`
    : lacksSandbox && `Each command needs your approval. ${sandbox.reason ?? ''}`;
  // The label contains the visible text, so that users of speech input can name the button.
  const summary = lacksSandbox ? 'auto, no sandbox' : isFull ? 'full access' : mode;
  return (
    <Chip
      label={`Approvals: ${summary}${warning ? `. ${warning}` : ''}`}
      kind={warning ? 'caution' : undefined}
      opens="approvals"
    >
      <Icon name={warning ? 'alert' : 'shield'} />
      {lacksSandbox ? (
        <>
          <span class="when-wide">auto,</span> no sandbox
        </>
      ) : (
        summary
      )}
    </Chip>
  );
}
