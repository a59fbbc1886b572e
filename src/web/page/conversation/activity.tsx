import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import type { Retry, View } from '../../../client/view.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { oneLine } from '../../words.ts';
import { SecondsLeft } from '../seconds-left.tsx';
import { useApp, useSession } from '../state/app.ts';

/** What happens now, in a line below what was said that has its room at any time. Without a connection nobody knows. */
export function Activity() {
  const { view, connection } = useSession();
  const isConnected = useComputed(() => connection.value.state === 'open');
  const retry = useComputed(() => view.value.retry);
  const doing = useComputed(() => doingIn(view.value));
  const shown = isConnected.value ? (retry.value ?? doing.value) : undefined;
  return (
    <div class="activity">
      {typeof shown === 'string' && (
        <>
          <span class="pulse" aria-hidden="true" />
          <PlainText text={shown} />
        </>
      )}
      {typeof shown === 'object' && <RetryLine retry={shown} />}
      <RunEnds />
    </div>
  );
}

function doingIn({ compacting, running, tools }: View): string | undefined {
  if (compacting) return 'Compacting…';
  if (!running) return undefined;
  const [first, ...others] = tools;
  if (!first) return 'Working…';
  return others.length === 0 ? `Running ${oneLine(first.toolName, 60)}…` : `Running ${tools.length} tools…`;
}

function RetryLine({ retry }: { readonly retry: Retry }) {
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
        <button type="button" class="quiet" onClick={() => void session.attempt(() => session.remote.abortRetry())}>
          Cancel retry
        </button>
      )}
    </>
  );
}

/** Tells those who do not see it that a run is over. */
function RunEnds() {
  const { view } = useSession();
  const wasRunning = useRef(false);
  const said = useSignal('');
  const running = useComputed(() => view.value.running);
  useSignalEffect(() => {
    const isRunning = running.value;
    if (isRunning) said.value = '';
    else if (wasRunning.current) said.value = endOf(view.peek());
    wasRunning.current = isRunning;
  });
  return (
    <span class="hidden-label" aria-live="polite">
      {said}
    </span>
  );
}

function endOf({ messages }: View): string {
  const last = messages.at(-1);
  // An answer that was to be asked for again is no part of the conversation.
  if (last?.role !== 'assistant') return 'The run is over.';
  if (last.stopReason === 'error') return 'The answer failed.';
  return last.stopReason === 'aborted' ? 'The answer was stopped.' : 'The answer is complete.';
}
