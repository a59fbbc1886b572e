import { useMemo } from 'preact/hooks';
import type { OpenDialog } from '../../../../client/view/extension-ui.ts';
import { SecondsLeft } from '../../seconds.tsx';

// The remaining time of a dialog and its default outcome; empty without a timeout.
export function TimeLeft({ dialog }: { readonly dialog: OpenDialog }) {
  const timeout = dialog.method === 'editor' ? undefined : dialog.timeout;
  const until = useMemo(() => performance.now() + (timeout ?? 0), [dialog]);
  if (timeout === undefined) return null;
  return (
    <span class="time-left">
      {dialog.method === 'confirm' ? 'Taken as No' : 'Cancelled'} in <SecondsLeft until={until} />
    </span>
  );
}
