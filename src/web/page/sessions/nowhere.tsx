import type { ComponentChildren } from 'preact';
import type { ConnectionStatus } from '../../../client/remote/reconnecting-socket.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { endOf } from '../extras/connection-end.ts';
import { Icon } from '../icons.tsx';
import { useApp } from '../state/app.ts';

/** What whoever may only look sees before a session is chosen. */
export const Unchosen = () => (
  <Nowhere title="Choose a session" words="This login may look at sessions, but not begin one." />
);

/** What stands in the place of a session that there is not, or not for this login, or not now. */
export function Missing({ status: { code, delayMs, reason = '' } }: { readonly status: ConnectionStatus }) {
  const app = useApp();
  const { words, advice = '', mayPass } = endOf(code);
  return (
    <Nowhere title={words} words={`${reason}. ${advice}`}>
      {mayPass && (
        <button type="button" onClick={() => app.retry()}>
          {delayMs === 0 ? 'Trying…' : 'Retry'}
        </button>
      )}
    </Nowhere>
  );
}

interface NowhereProps {
  readonly title: string;
  readonly words: string;
  readonly children?: ComponentChildren;
}

function Nowhere({ title, words, children }: NowhereProps) {
  const app = useApp();
  return (
    <main class="alone nowhere">
      <h1>{title}</h1>
      <p>
        <PlainText text={words} />
      </p>
      <div class="row">
        {children}
        {app.may('prompt') && (
          <button type="button" class="main" onClick={() => app.begin()}>
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
