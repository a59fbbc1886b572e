import { type ComponentChildren, render } from 'preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { messageOf } from '../../protocol/errors.ts';
import { Composer } from './composer/composer.tsx';
import { Header } from './controls/header.tsx';
import { useShortcuts } from './controls/shortcuts/use-shortcuts.ts';
import { LoginForm } from './login.tsx';
import { lazy, Sheets } from './overlay/sheets.tsx';
import { ErrorPage, LoadFailure, Skeleton } from './placeholders.tsx';
import type { LoginOutcome } from './server-api.ts';
import { MissingSession, NoSessionChosen } from './sessions/no-session.tsx';
import { Sidebar } from './sessions/sidebar.tsx';
import { App, AppContext, useApp } from './state/app.ts';
import { isUnavailable } from './status/close-descriptions.ts';
import { AboveComposer, Announcements, BelowComposer } from './status/status-areas.tsx';

/** Renders the page for a logged-in browser, or the login form. */
export function startPage(login: Promise<LoginOutcome>): void {
  login.then(renderPage).catch((error: unknown) => render(<ErrorPage reason={messageOf(error)} />, document.body));
}

function renderPage(outcome: LoginOutcome): void {
  if ('refusal' in outcome) render(<LoginForm reason={outcome.refusal} />, document.body);
  else render(<Page app={new App(outcome)} />, document.body);
}

// The composer accepts text before these parts have arrived.
const Conversation = lazy({
  load: async () => (await import('./session-parts.ts')).sessionParts.Conversation,
  whileLoading: () => (
    <div class="conversation empty">
      <Skeleton />
    </div>
  ),
  onError: LoadFailure,
});
const DeleteDialog = lazy({
  load: async () => (await import('./sessions/delete-dialog.tsx')).DeleteDialog,
  whileLoading: () => null,
  onError: LoadFailure,
});

/** The whole page: the session list and the open session. */
const Page = ({ app }: { readonly app: App }) => (
  <AppContext.Provider value={app}>
    <ErrorBoundary>
      <LoginGate app={app} />
    </ErrorBoundary>
  </AppContext.Provider>
);

function LoginGate({ app }: { readonly app: App }) {
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
      {!session && <NoSessionChosen />}
      {session && (
        <ErrorBoundary key={`${session.number} ${session.id.value}`}>
          <div class="session">
            {isUnavailable(session) ? <MissingSession status={session.connection.value} /> : <OpenSession />}
            <Announcements />
          </div>
        </ErrorBoundary>
      )}
      <Sheets />
      {app.deleting.value && <DeleteDialog />}
    </div>
  );
}

const OpenSession = () => (
  <>
    <PartBoundary>
      <Header />
    </PartBoundary>
    <main>
      <PartBoundary>
        <Conversation />
      </PartBoundary>
    </main>
    <footer class="foot">
      <PartBoundary>
        <AboveComposer />
      </PartBoundary>
      <PartBoundary>
        <Composer />
      </PartBoundary>
      <PartBoundary>
        <BelowComposer />
      </PartBoundary>
    </footer>
  </>
);

interface BoundaryProps {
  readonly children: ComponentChildren;
}

/** Replaces children that fail to render by the error page; other sessions stay reachable. */
function ErrorBoundary({ children }: BoundaryProps) {
  const [problem] = useRenderError();
  return problem === undefined ? children : <ErrorPage reason={problem} />;
}

/** The same for one part of a session, with a Retry button; the other parts stay usable. */
function PartBoundary({ children }: BoundaryProps) {
  const [problem, retry] = useRenderError();
  if (problem === undefined) return children;
  return (
    <p class="failure" role="alert">
      {problem}{' '}
      <button type="button" class="quiet" onClick={retry}>
        Retry
      </button>
    </p>
  );
}

/** The rendering error of the children and a function to retry. The next snapshot retries as well. */
function useRenderError(): readonly [problem: string | undefined, tryAgain: () => void] {
  const snapshots = useApp().session.value?.snapshots;
  const failedAt = useRef<number | undefined>(undefined);
  const [problem, retry] = useErrorBoundary(() => {
    failedAt.current = snapshots?.peek();
  });
  useEffect(() => {
    if (problem !== undefined && snapshots?.value !== failedAt.current) retry();
  }, [problem, snapshots?.value]);
  return [problem === undefined ? undefined : `This cannot be shown: ${messageOf(problem)}`, retry];
}
