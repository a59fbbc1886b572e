import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { messageOf } from '../../protocol/errors.ts';
import { Composer } from './composer/composer.tsx';
import { Header } from './controls/header.tsx';
import { useShortcuts } from './controls/shortcuts/listening.ts';
import { Conversation } from './conversation/conversation.tsx';
import { LoginForm } from './entrance/login-form.tsx';
import { Trouble } from './entrance/trouble.tsx';
import { Announcements } from './extras/announcements.tsx';
import { isAlone } from './extras/connection-end.ts';
import { Extras } from './extras/extras.tsx';
import { UnderComposer } from './extras/under-composer.tsx';
import { Sheets } from './overlay/sheets.tsx';
import { DeleteDialog } from './sessions/delete-dialog.tsx';
import { Missing, Unchosen } from './sessions/nowhere.tsx';
import { Sidebar } from './sessions/sidebar.tsx';
import { type App, AppContext, useApp } from './state/app.ts';
import { Welcome } from './welcome/welcome.tsx';

/** Everything: the sessions on one side, the one that is looked at on the other. */
export const Page = ({ app }: { readonly app: App }) => (
  <AppContext.Provider value={app}>
    <Guarded>
      <Entrance app={app} />
    </Guarded>
  </AppContext.Provider>
);

function Entrance({ app }: { readonly app: App }) {
  const session = app.session.value;
  const { reason } = session?.connection.value ?? {};
  if (app.sessions.isLoggedOut.value || session?.isLoggedOut.value)
    return <LoginForm reason={session?.isLoggedOut.value ? reason : undefined} />;
  return <Frame app={app} />;
}

function Frame({ app }: { readonly app: App }) {
  const session = app.session.value;
  useShortcuts(app);
  return (
    <div class="frame">
      <Sidebar />
      {!session && <Unchosen />}
      {session && (
        <Guarded key={`${session.number} ${session.id.value}`}>
          <div class="session">
            {isAlone(session) ? <Missing status={session.connection.value} /> : <OpenSession />}
            <Announcements />
          </div>
        </Guarded>
      )}
      <Sheets />
      <DeleteDialog />
    </div>
  );
}

const OpenSession = () => (
  <>
    <Part>
      <Header />
    </Part>
    <main>
      <Part>
        <Conversation whenEmpty={<Welcome />} />
      </Part>
    </main>
    <footer class="foot">
      <Part>
        <Extras />
      </Part>
      <Part>
        <Composer />
      </Part>
      <Part>
        <UnderComposer />
      </Part>
    </footer>
  </>
);

interface GuardedProps {
  readonly children: ComponentChildren;
}

/** Says so where something cannot be drawn. What is around it stays: other sessions can be gone to. */
function Guarded({ children }: GuardedProps) {
  const [problem] = useProblem();
  return problem === undefined ? children : <Trouble reason={problem} />;
}

/** The same of a part of a session: one can still write in another. */
function Part({ children }: GuardedProps) {
  const [problem, tryAgain] = useProblem();
  if (problem === undefined) return children;
  return (
    <p class="failure" role="alert">
      {problem}{' '}
      <button type="button" class="quiet" onClick={tryAgain}>
        Retry
      </button>
    </p>
  );
}

/**
 * Why what is inside cannot be drawn, and a way to try it again. With the next snapshot that is done anyway: what was wrong
 * may not be in it.
 */
function useProblem(): readonly [problem: string | undefined, tryAgain: () => void] {
  const snapshots = useApp().session.value?.snapshots;
  const failedAt = useRef<number | undefined>(undefined);
  const [problem, tryAgain] = useErrorBoundary(() => {
    failedAt.current = snapshots?.peek();
  });
  useEffect(() => {
    if (problem !== undefined && snapshots?.value !== failedAt.current) tryAgain();
  }, [problem, snapshots?.value]);
  return [problem === undefined ? undefined : `This cannot be shown: ${messageOf(problem)}`, tryAgain];
}
