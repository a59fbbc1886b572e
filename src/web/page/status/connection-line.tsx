import { useMemo } from 'preact/hooks';
import type { ConnectionStatus } from '../../../client/remote/reconnecting-socket.ts';
import { defaultReconnection } from '../../../client/remote/reconnection.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { SecondsLeft } from '../seconds.tsx';
import { useApp, useSession } from '../state/app.ts';
import { describeClose, isUnavailable } from './close-descriptions.ts';
import { useAfterDelay } from './use-after-delay.ts';

// A shorter connecting phase shows nothing.
const CONNECTING_DELAY_MS = 1000;

// The close code of a connection that ended without a close frame.
const ABNORMAL_CLOSURE = 1006;

/** Shows a problem of the connection and its remedy; empty while connected. */
export function ConnectionLine() {
  const session = useSession();
  const status = session.connection.value;
  if (isUnavailable(session)) return null;
  return (
    <div class="connection" role="status" aria-label="Connection">
      {status.state === 'connecting' && <Connecting />}
      {status.state === 'reconnecting' && <Reconnecting status={status} />}
      {status.state === 'closed' && <Closed status={status} />}
    </div>
  );
}

interface StatusProps {
  readonly status: ConnectionStatus;
}

function Connecting() {
  if (!useAfterDelay(CONNECTING_DELAY_MS)) return null;
  return (
    <div class="connection-card">
      <span class="connection-sign" />
      <strong>Connecting…</strong>
    </div>
  );
}

function Reconnecting({ status }: StatusProps) {
  const { attempt = 1, delayMs = 0 } = status;
  const app = useApp();
  const until = useMemo(() => performance.now() + delayMs, [status]);
  const isLost = attempt > defaultReconnection.maxRetries;
  return (
    <div class={isLost ? 'connection-card bad' : 'connection-card'}>
      {!isLost && <span class="connection-sign" />}
      <p>
        <strong>{headline(status, isLost ? 'Connection Lost' : 'Reconnecting…')}</strong>
        {/* Screen readers would read each second. */}
        <span class="note" aria-live="off">
          {isLost && 'What you send waits here · '}
          Attempt {attempt} in <SecondsLeft until={until} />
          <Reason status={status} />
        </span>
      </p>
      <button type="button" class={isLost ? 'main' : 'quiet'} onClick={() => app.retry()}>
        {isLost ? 'Retry' : 'Try now'}
      </button>
    </div>
  );
}

function Closed({ status }: StatusProps) {
  const app = useApp();
  const { text, remedy } = describeClose(status.code);
  return (
    <div class="connection-card bad">
      <p>
        <strong>{text}</strong>
        <span class="note">
          <PlainText text={status.reason ?? ''} />
        </span>
      </p>
      {remedy === 'begin' ? (
        <button type="button" class="main" onClick={() => app.newSession()}>
          New session
        </button>
      ) : (
        <button type="button" class="main" onClick={() => location.reload()}>
          Reload
        </button>
      )}
    </div>
  );
}

/** The text of a temporary reason, or else the usual one. */
function headline({ code }: ConnectionStatus, usual: string): string {
  const { text, isTemporary } = describeClose(code);
  return isTemporary ? text : usual;
}

/** The close reason, if the server gave one. */
const Reason = ({ status }: StatusProps) =>
  status.reason && status.code !== ABNORMAL_CLOSURE ? (
    <>
      {' · '}
      <PlainText text={status.reason} />
    </>
  ) : null;
