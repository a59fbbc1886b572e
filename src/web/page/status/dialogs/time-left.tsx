import { useMemo } from 'preact/hooks';
import type { OpenDialog } from '../../../../client/view/extension-ui.ts';
import { SecondsLeft } from '../../seconds.tsx';

/** How long a question waits, and what becomes of it then; nothing for one that has time. */
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
