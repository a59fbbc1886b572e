import { useSession } from '../state/app.ts';
import type { EarlierMessages } from './earlier-messages.ts';

// The row above all messages, with loading state and errors. Its height is constant.
export function EarlierRow({ earlier }: { readonly earlier: EarlierMessages }) {
  const session = useSession();
  const reading = earlier.reading.value;
  return (
    <div class="earlier" role="status">
      {reading.kind === 'reading' && <span class="note">Loading earlier messages</span>}
      {reading.kind === 'failed' && session.view.peek().earlier && (
        <>
          <span class="note failure">Earlier messages could not be read: {reading.reason}</span>
          <button type="button" class="quiet" onClick={() => earlier.retry()}>
            Retry
          </button>
        </>
      )}
    </div>
  );
}
