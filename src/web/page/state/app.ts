import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { rememberedTheme, type Theme, applyTheme } from '../../theme.ts';
import { type LoginInfo, currentLogin } from '../server-api.ts';
import { Attention } from './attention/attention.ts';
import { LoadedSessions } from './list/loaded-sessions.ts';
import { SessionListView } from './list/session-list-view.ts';
import { Unread } from './list/unread.ts';
import type { LiveSession } from './live-session.ts';
import { matchesMedia } from './media.ts';
import { Navigation } from './navigation.ts';
import type { PageLocation } from './page-location.ts';
import { titleOf } from './title.ts';
import { isVisible } from './browser-signals.ts';
import { Drafts } from './draft/drafts.ts';
import type { MessageDraft } from './draft/message-draft.ts';

/** What lies over the page: one thing at a time. */
export type Sheet = 'shortcuts' | 'models' | 'thinking' | 'folders' | 'credentials' | 'search';

/** What the page as a whole knows: who looks, at which session, and what is open over it. */
export class App {
  readonly login: LoginInfo;
  readonly navigation: Navigation;
  readonly sessions = new LoadedSessions();
  readonly list = new SessionListView(this.sessions);
  /** The colours that were chosen. */
  readonly theme: Signal<Theme> = signal(rememberedTheme());
  readonly drafts = new Drafts();
  /** What was written to questions and not given, by their ids: they are asked again when a connection was lost. */
  readonly dialogDrafts = new Map<string, string>();
  readonly sheet: Signal<Sheet | undefined> = signal(undefined);
  /** The session that is to be deleted, should that be meant. */
  readonly deleting: Signal<SessionSummary | undefined> = signal(undefined);
  /** Whether there is no room for the list of sessions beside the session. */
  readonly isNarrow = matchesMedia('(width < 52rem)');
  /** Whether the list of sessions is open over the session. */
  readonly isListOpen: Signal<boolean> = signal(false);
  readonly unread: Unread;
  /** What the session is called that is looked at. */
  readonly title: ReadonlySignal<string>;
  readonly attention: Attention;

  constructor(login: LoginInfo) {
    this.login = login;
    this.navigation = new Navigation({ mayCreate: this.may('prompt') });
    const { session, sessionId } = this.navigation;
    this.unread = new Unread(
      this.sessions.sessions,
      computed(() => (isVisible.value ? sessionId.value : undefined)),
    );
    this.title = openTitle(this.navigation, this.sessions.sessions);
    this.attention = new Attention(session, this.title);
    addEventListener('online', () => this.retry());
    const checkConnection = () => session.peek()?.remote.checkConnection();
    addEventListener('offline', checkConnection);
    effect(() => {
      if (isVisible.value) checkConnection();
    });
    effect(() => {
      if (this.sessions.problem.value !== undefined) checkConnection();
    });
    addEventListener('beforeunload', (event) => {
      if (this.navigation.hasUnsent || this.drafts.hasAttachments) event.preventDefault();
    });
    effect(() => applyTheme(this.theme.value));
    effect(() => {
      if (session.value?.isLoggedOut.value) this.sessions.loggedOut();
    });
    effect(() => (this.sessions.isLoggedOut.value ? () => void this.#resumeAfterLogin() : undefined));
    // An extension may go to another session first: where it is by then is drawn later.
    if (this.may('prompt'))
      effect(() => session.value?.onEditorText((text, id) => this.drafts.get(id).replace(text)));
    // What is open belongs to the session it was opened in, also where a command leads to another one.
    effect(() => {
      if (sessionId.value !== undefined) this.sheet.value = undefined;
    });
    const listed = listedState(this.navigation);
    let last = listed.peek();
    effect(() => {
      // On the way to another session nothing is known.
      if (!listed.value || last === listed.value) return;
      // What a session is found with was in the list before.
      const isSameSession = last?.session === listed.value.session;
      last = listed.value;
      if (isSameSession) void this.sessions.refresh();
    });
  }

  get session(): ReadonlySignal<LiveSession | undefined> {
    return this.navigation.session;
  }

  get sessionId(): ReadonlySignal<string | undefined> {
    return this.navigation.sessionId;
  }

  may(scope: 'prompt' | 'bash' | 'admin'): boolean {
    return this.login.scopes.includes(scope);
  }

  /** Asks the server again for everything that it did not answer. */
  retry(): void {
    this.session.value?.remote.retry();
    void this.sessions.refresh();
  }

  /** Looks at another session. */
  goTo(target: PageLocation): void {
    this.isListOpen.value = false;
    this.navigation.goTo(target);
  }

  /** Begins another session, in the folder of the server unless there is another; stays in one that has not begun. */
  newSession(cwd?: string): void {
    this.isListOpen.value = false;
    this.sheet.value = undefined;
    this.navigation.openNew(cwd);
  }

  /** Somebody has logged in again, in another tab: goes on where it was, unless that was somebody else. */
  async #resumeAfterLogin(): Promise<void> {
    const login = await currentLogin().catch(() => undefined);
    if (JSON.stringify(login) !== JSON.stringify(this.login)) location.reload();
    else if (this.session.value?.isLoggedOut.value) this.navigation.reconnect();
  }
}

/** Made from what changes when something is said, not with every word of it. */
function openTitle(
  { view, session, sessionId }: Navigation,
  sessions: ReadonlySignal<readonly SessionSummary[] | undefined>,
): ReadonlySignal<string> {
  const messages = computed(() => view.value.messages);
  const isWhole = computed(() => view.value.earlier === undefined);
  const name = computed(() => view.value.state.sessionName);
  return computed(() =>
    titleOf({
      name: name.value,
      messages: messages.value,
      isWhole: isWhole.value,
      summary: sessions.value?.find(({ id }) => id === sessionId.value),
      isNew: session.value?.origin.kind === 'new',
    }),
  );
}

/** What of a session the list of sessions tells, too. */
interface ListedState {
  readonly session: LiveSession;
  readonly values: readonly unknown[];
}

/** Another one whenever the list is. */
function listedState({ view, session, sessionId }: Navigation): ReadonlySignal<ListedState | undefined> {
  const isRunning = computed(() => view.value.running);
  const hasDialogs = computed(() => view.value.dialogs.length > 0);
  const hasMessages = computed(() => view.value.messages.length > 0);
  const name = computed(() => view.value.state.sessionName);
  return computed(() => {
    const values = [isRunning.value, hasDialogs.value, hasMessages.value, sessionId.value, name.value];
    return session.value?.isLoaded.value ? { session: session.value, told: values } : undefined;
  });
}

export const AppContext = createContext<App | undefined>(undefined);

/** The page as a whole. */
export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error('There is no page around this');
  return app;
}

/** The session that is looked at. */
export function useSession(): LiveSession {
  const session = useApp().session.value;
  if (!session) throw new Error('No session is looked at');
  return session;
}

/** What is being written in it. */
export const useDraft = (): MessageDraft => useApp().drafts.get(useSession().id.value);
