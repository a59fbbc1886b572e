import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { applyTheme, storedTheme, type Theme } from '../../theme.ts';
import { currentLogin, type LoginInfo } from '../server-api.ts';
import { Attention } from './attention/attention.ts';
import { isVisible, matchesMedia } from './browser-signals.ts';
import { Drafts } from './draft/drafts.ts';
import type { MessageDraft } from './draft/message-draft.ts';
import { LoadedSessions } from './list/loaded-sessions.ts';
import { SessionListView } from './list/session-list-view.ts';
import { titleOf } from './list/session-summaries.ts';
import { Unread } from './list/unread.ts';
import type { LiveSession } from './live-session.ts';
import { Navigation } from './navigation.ts';
import type { PageLocation } from './page-location.ts';

/** The sheet that is open; at most one is. */
export type Sheet = 'shortcuts' | 'models' | 'approvals' | 'thinking' | 'folders' | 'credentials' | 'search';

/** The state of the whole page: the login, the open session, the list and the open sheet. */
export class App {
  readonly login: LoginInfo;
  readonly navigation: Navigation;
  readonly sessions = new LoadedSessions();
  readonly list = new SessionListView(this.sessions);
  readonly theme: Signal<Theme> = signal(storedTheme());
  readonly drafts = new Drafts();
  /** Unsent text by dialog id: a reconnect sends the same dialog again. */
  readonly dialogDrafts = new Map<string, string>();
  readonly sheet: Signal<Sheet | undefined> = signal(undefined);
  /** The session whose deletion the user has to confirm. */
  readonly deleting: Signal<SessionSummary | undefined> = signal(undefined);
  /** Whether the viewport is too narrow to show the session list beside the session. */
  readonly isNarrow = matchesMedia('(width < 52rem)');
  /** Whether the session list covers the session. */
  readonly isListOpen: Signal<boolean> = signal(false);
  readonly unread: Unread;
  /** The title of the open session. */
  readonly title: ReadonlySignal<string>;
  /** Other sessions whose dialogs wait for an answer. */
  readonly waiting: ReadonlySignal<readonly SessionSummary[]> = computed(() =>
    this.may('prompt')
      ? (this.sessions.sessions.value ?? []).filter(
          ({ id, status }) => status === 'waiting' && id !== this.sessionId.value,
        )
      : [],
  );
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
    this.attention = new Attention({ session, title: this.title, waiting: this.waiting });
    addEventListener('online', () => this.retry());
    const retryIfOffline = () => {
      if (session.peek()?.isOffline.peek()) this.retry();
    };
    addEventListener('focus', retryIfOffline);
    addEventListener('click', retryIfOffline);
    const checkConnection = () => session.peek()?.remote.checkConnection();
    addEventListener('offline', checkConnection);
    effect(() => {
      if (!isVisible.value) return;
      checkConnection();
      retryIfOffline();
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
    // An extension may switch sessions first; the target is drawn only later.
    if (this.may('prompt')) effect(() => session.value?.onEditorText((text, id) => this.drafts.get(id).replace(text)));
    // A sheet belongs to the session in which it was opened, also when a command switches sessions.
    effect(() => {
      if (sessionId.value !== undefined) this.sheet.value = undefined;
    });
    const listed = listedState(this.navigation);
    let last = listed.peek();
    effect(() => {
      // While another session loads, nothing is known.
      if (!listed.value || last === listed.value) return;
      // A session that was just opened is in the list already.
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

  /** Retries the connection and reloads the session list. */
  retry(): void {
    this.session.value?.remote.retry();
    void this.sessions.refresh();
  }

  goTo(target: PageLocation): void {
    this.isListOpen.value = false;
    this.navigation.goTo(target);
  }

  /** Opens a new session in `cwd`, or in the folder of the server. An unused new session of that folder is kept. */
  newSession(cwd?: string): void {
    this.isListOpen.value = false;
    this.sheet.value = undefined;
    this.navigation.openNew(cwd);
  }

  /** After a login in another tab: reloads for another user, otherwise reconnects. */
  async #resumeAfterLogin(): Promise<void> {
    const login = await currentLogin().catch(() => undefined);
    if (JSON.stringify(login) !== JSON.stringify(this.login)) location.reload();
    else if (this.session.value?.isLoggedOut.value) this.navigation.reconnect();
  }
}

/** Depends only on values that change per message, not per delta. */
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
      isNew: session.value?.origin.kind === 'new' || (session.value?.isLoaded.value ?? false),
    }),
  );
}

// The values of a session that the session list shows as well.
interface ListedState {
  readonly session: LiveSession;
  readonly values: readonly unknown[];
}

/** A new object whenever one of the listed values changes. */
function listedState({ view, session, sessionId }: Navigation): ReadonlySignal<ListedState | undefined> {
  const isRunning = computed(() => view.value.running);
  const hasDialogs = computed(() => view.value.dialogs.length > 0);
  const hasMessages = computed(() => view.value.messages.length > 0);
  const name = computed(() => view.value.state.sessionName);
  return computed(() => {
    const values = [isRunning.value, hasDialogs.value, hasMessages.value, sessionId.value, name.value];
    return session.value?.isLoaded.value ? { session: session.value, values } : undefined;
  });
}

export const AppContext = createContext<App | undefined>(undefined);

/** Returns the app of the surrounding page. */
export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error('There is no page around this');
  return app;
}

/** Returns the open session; throws when there is none. */
export function useSession(): LiveSession {
  const session = useApp().session.value;
  if (!session) throw new Error('No session is looked at');
  return session;
}

/** Returns the draft of the open session. */
export const useDraft = (): MessageDraft => useApp().drafts.get(useSession().id.value);
