import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
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
import { type App, AppContext } from './state/app.ts';
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
    <Header />
    <main>
      <Conversation whenEmpty={<Welcome />} />
    </main>
    <footer class="foot">
      <Extras />
      <Composer />
      <UnderComposer />
    </footer>
  </>
);

/** Says so where something cannot be drawn. What is around it stays: other sessions can be gone to. */
function Guarded({ children }: { readonly children: ComponentChildren }) {
  const [problem] = useErrorBoundary();
  return problem === undefined ? children : <Trouble reason={`This cannot be shown: ${messageOf(problem)}`} />;
}
