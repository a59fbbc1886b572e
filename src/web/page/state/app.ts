import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { rememberedTheme, type Theme, wear } from '../../theme.ts';
import { type Visitor, whoIsIn } from '../entrance/server.ts';
import { Attention } from './attention/attention.ts';
import { SessionList } from './list/session-list.ts';
import { ShownList } from './list/shown-list.ts';
import { Unread } from './list/unread.ts';
import type { LiveSession } from './live-session.ts';
import { holds } from './media.ts';
import { Navigation } from './navigation.ts';
import type { Place } from './place.ts';
import { titleOf } from './title.ts';
import { isVisible } from './visibility.ts';
import { Drafts } from './writing/drafts.ts';
import type { Writing } from './writing/writing.ts';

/** What lies over the page: one thing at a time. */
export type Sheet = 'shortcuts' | 'models' | 'thinking' | 'folders' | 'credentials' | 'search';

/** What the page as a whole knows: who looks, at which session, and what is open over it. */
export class App {
  readonly visitor: Visitor;
  readonly navigation: Navigation;
  readonly sessions = new SessionList();
  readonly list = new ShownList(this.sessions);
  /** The colours that were chosen. */
  readonly theme: Signal<Theme> = signal(rememberedTheme());
  readonly drafts = new Drafts();
  /** What was written to questions and not given, by their ids: they are asked again when a connection was lost. */
  readonly answers = new Map<string, string>();
  readonly sheet: Signal<Sheet | undefined> = signal(undefined);
  /** The session that is to be deleted, should that be meant. */
  readonly deleted: Signal<SessionSummary | undefined> = signal(undefined);
  /** Whether there is no room for the list of sessions beside the session. */
  readonly isNarrow = holds('(width < 52rem)');
  /** Whether the list of sessions is open over the session. */
  readonly isListOpen: Signal<boolean> = signal(false);
  readonly unread: Unread;
  /** What the session is called that is looked at. */
  readonly title: ReadonlySignal<string>;
  readonly attention: Attention;

  constructor(visitor: Visitor) {
    this.visitor = visitor;
    this.navigation = new Navigation({ mayBegin: this.may('prompt') });
    const { session, sessionId } = this.navigation;
    this.unread = new Unread(
      this.sessions.sessions,
      computed(() => (isVisible.value ? sessionId.value : undefined)),
    );
    this.title = titleIn(this.navigation, this.sessions.sessions);
    this.attention = new Attention(session, this.title);
    addEventListener('online', () => this.retry());
    const doubt = () => session.peek()?.remote.checkConnection();
    addEventListener('offline', doubt);
    effect(() => {
      if (isVisible.value) doubt();
    });
    effect(() => {
      if (this.sessions.problem.value !== undefined) doubt();
    });
    addEventListener('beforeunload', (event) => {
      if (this.navigation.hasUnsent || this.drafts.hasAttachments) event.preventDefault();
    });
    effect(() => wear(this.theme.value));
    effect(() => {
      if (session.value?.isLoggedOut.value) this.sessions.refused();
    });
    effect(() => (this.sessions.isLoggedOut.value ? () => void this.#goOn() : undefined));
    // An extension may go to another session first: where it is by then is drawn later.
    if (this.may('prompt'))
      effect(() => session.value?.onEditorText((text, id) => this.drafts.writingIn(id).replace(text)));
    // What is open belongs to the session it was opened in, also where a command leads to another one.
    effect(() => {
      if (sessionId.value !== undefined) this.sheet.value = undefined;
    });
    const news = newsIn(this.navigation);
    let known = news.peek();
    effect(() => {
      // On the way to another session nothing is known.
      if (!news.value || known === news.value) return;
      // What a session is found with was in the list before.
      const isNews = known?.session === news.value.session;
      known = news.value;
      if (isNews) void this.sessions.refresh();
    });
  }

  get session(): ReadonlySignal<LiveSession | undefined> {
    return this.navigation.session;
  }

  get sessionId(): ReadonlySignal<string | undefined> {
    return this.navigation.sessionId;
  }

  may(scope: 'prompt' | 'bash' | 'admin'): boolean {
    return this.visitor.scopes.includes(scope);
  }

  /** Asks the server again for everything that it did not answer. */
  retry(): void {
    this.session.value?.remote.retry();
    void this.sessions.refresh();
  }

  /** Looks at another session. */
  go(place: Place): void {
    this.isListOpen.value = false;
    this.navigation.go(place);
  }

  /** Begins another session, in the folder of the server unless there is another; stays in one that has not begun. */
  begin(cwd?: string): void {
    this.isListOpen.value = false;
    this.sheet.value = undefined;
    this.navigation.begin(cwd);
  }

  /** Somebody has logged in again, in another tab: goes on where it was, unless that was somebody else. */
  async #goOn(): Promise<void> {
    const visitor = await whoIsIn().catch(() => undefined);
    if (JSON.stringify(visitor) !== JSON.stringify(this.visitor)) location.reload();
    else if (this.session.value?.isLoggedOut.value) this.navigation.renew();
  }
}

/** Made from what changes when something is said, not with every word of it. */
function titleIn(
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
      isNew: session.value?.place.kind === 'new',
    }),
  );
}

/** What of a session the list of sessions tells, too. */
interface News {
  readonly session: LiveSession;
  readonly told: readonly unknown[];
}

/** Another one whenever the list is. */
function newsIn({ view, session, sessionId }: Navigation): ReadonlySignal<News | undefined> {
  const isRunning = computed(() => view.value.running);
  const isAsking = computed(() => view.value.dialogs.length > 0);
  const isSaid = computed(() => view.value.messages.length > 0);
  const name = computed(() => view.value.state.sessionName);
  return computed(() => {
    const told = [isRunning.value, isAsking.value, isSaid.value, sessionId.value, name.value];
    return session.value?.isKnown.value ? { session: session.value, told } : undefined;
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
export const useWriting = (): Writing => useApp().drafts.writingIn(useSession().id.value);
