import type { ComponentChildren } from 'preact';
import type { ConnectionStatus } from '../../../client/remote/reconnecting-socket.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { Icon } from '../icons.tsx';
import { useApp } from '../state/app.ts';
import { describeClose } from '../status/close-descriptions.ts';

/** The page of a login that may only view, before a session is chosen. */
export const NoSessionChosen = () => (
  <NoSession title="Choose a session" text="This login may look at sessions, but not begin one." />
);

/** The page in place of a session that is missing, forbidden or unavailable. */
export function MissingSession({ status: { code, delayMs, reason = '' } }: { readonly status: ConnectionStatus }) {
  const app = useApp();
  const { text, advice = '', isTemporary } = describeClose(code);
  return (
    <NoSession title={text} text={`${reason}. ${advice}`}>
      {isTemporary && (
        <button type="button" onClick={() => app.retry()}>
          {delayMs === 0 ? 'Trying…' : 'Retry'}
        </button>
      )}
    </NoSession>
  );
}

interface NoSessionProps {
  readonly title: string;
  readonly text: string;
  readonly children?: ComponentChildren;
}

function NoSession({ title, text, children }: NoSessionProps) {
  const app = useApp();
  return (
    <main class="solo no-session">
      <h1>{title}</h1>
      <p>
        <PlainText text={text} />
      </p>
      <div class="row">
        {children}
        {app.may('prompt') && (
          <button type="button" class="main" onClick={() => app.newSession()}>
            New session
          </button>
        )}
        {app.isNarrow.value && (
          <button
            type="button"
            onClick={() => {
              app.isListOpen.value = true;
            }}
          >
            <Icon name="list" /> Sessions
          </button>
        )}
      </div>
    </main>
  );
}
