import { useComputed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { ConversationView, PendingRetry } from '../../../client/view/view.ts';
import type { AgentSettledEvent } from '../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { oneLine } from '../../format.ts';
import { cancelRetry } from '../actions/prompting.ts';
import { SecondsElapsed, SecondsLeft } from '../seconds.tsx';
import { useApp, useSession } from '../state/app.ts';
import { UnansweredPrompt } from './unanswered-prompt.tsx';

/** The activity line below the messages. Its height is constant; without a connection it is empty. */
export function Activity() {
  const { view, connection } = useSession();
  const isConnected = useComputed(() => connection.value.state === 'open');
  const retry = useComputed(() => view.value.retry);
  const activity = useComputed(() => activityText(view.value));
  const shown = isConnected.value ? (retry.value ?? activity.value) : undefined;
  return (
    <div class="activity">
      {typeof shown === 'string' && (
        <>
          <span class="pulse" aria-hidden="true" />
          <PlainText text={shown} />
          <SecondsElapsed key={shown} />
        </>
      )}
      {typeof shown === 'object' && <RetryLine retry={shown} />}
      {isConnected.value && <UnansweredPrompt />}
      <RunEndAnnouncement />
    </div>
  );
}

function activityText({ compacting, running, tools, dialogs }: ConversationView): string | undefined {
  if (compacting) return 'Compacting…';
  if (!running) return undefined;
  if (dialogs.length > 0) return 'Waiting for an answer…';
  const [first, ...others] = tools;
  if (!first) return 'Working…';
  return others.length === 0 ? `Running ${oneLine(first.toolName, 60)}…` : `Running ${tools.length} tools…`;
}

function RetryLine({ retry }: { readonly retry: PendingRetry }) {
  const app = useApp();
  const session = useSession();
  const until = useMemo(() => performance.now() + retry.delayMs, [retry]);
  return (
    <>
      <span class="pulse" aria-hidden="true" />
      <span class="retry">
        Trying again in <SecondsLeft until={until} /> ({retry.attempt} of {retry.maxAttempts}):{' '}
        <PlainText text={oneLine(retry.errorMessage, 300)} />
      </span>
      {app.may('prompt') && (
        <button type="button" class="quiet" onClick={() => void cancelRetry(session)}>
          Cancel retry
        </button>
      )}
    </>
  );
}

/** Announces the end of a run to screen readers; a new element per run makes equal texts read again. */
function RunEndAnnouncement() {
  const { lastRun } = useSession();
  return (
    <span class="hidden-label" aria-live="polite">
      {lastRun.value && <span key={lastRun.value.runId}>{runEndText(lastRun.value)}</span>}
    </span>
  );
}

function runEndText({ aborted, outcome }: AgentSettledEvent): string {
  if (aborted) return 'The answer was stopped.';
  if (outcome === 'error') return 'The answer failed.';
  return outcome === 'budget' ? 'The answer reached a limit.' : 'The answer is complete.';
}
