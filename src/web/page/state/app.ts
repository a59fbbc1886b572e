import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { emptyView } from '../../../client/view.ts';
import { rememberedTheme, type Theme, wear } from '../../theme.ts';
import { type Visitor, whoIsIn } from '../entrance/server.ts';
import { Attention } from './attention/attention.ts';
import { SessionList } from './list/session-list.ts';
import { ShownList } from './list/shown-list.ts';
import { Unread } from './list/unread.ts';
import { LiveSession } from './live-session.ts';
import { holds } from './media.ts';
import { currentPlace, newPlace, type Place, pushPlace, replacePlace } from './place.ts';
import { titleOf } from './title.ts';
import { Drafts } from './writing/drafts.ts';

/** What lies over the page: one thing at a time. */
export type Sheet = 'shortcuts' | 'models' | 'thinking' | 'folders' | 'credentials' | 'search';

/** What the page as a whole knows: who looks, at which session, and what is open over it. */
export class App {
  readonly visitor: Visitor;
  readonly sessions = new SessionList();
  readonly list = new ShownList(this.sessions);
  /** The colours that were chosen. */
  readonly theme: Signal<Theme> = signal(rememberedTheme());
  readonly drafts = new Drafts();
  /** What was written to questions and not given, by their ids: they are asked again when a connection was lost. */
  readonly answers = new Map<string, string>();
  readonly sheet: Signal<Sheet | undefined> = signal(undefined);
  /** Whether there is no room for the list of sessions beside the session. */
  readonly isNarrow = holds('(width < 52rem)');
  /** Whether the list of sessions is open over the session. */
  readonly isListOpen: Signal<boolean> = signal(false);
  readonly unread: Unread;
  /** What the session is called that is looked at. */
  readonly title: ReadonlySignal<string> = computed(() => this.#titleNow());
  readonly attention: Attention;
  readonly #session: Signal<LiveSession | undefined>;
  readonly #sessionId: ReadonlySignal<string | undefined>;
  /** Sessions that were left, until what was asked for in them is answered. */
  readonly #left = new Set<LiveSession>();
  /** What the address names, and the connection that it was named for. */
  #named: { readonly session: LiveSession; readonly id: string } | undefined;
  /** The session whose place in the history the next move takes. */
  #abandoned: string | undefined;

  constructor(visitor: Visitor) {
    this.visitor = visitor;
    this.#session = signal(this.#live(currentPlace()));
    this.#sessionId = computed(() => this.#session.value?.view.value.state.sessionId ?? this.#session.value?.place.id);
    this.unread = new Unread(this.sessions.sessions, this.#sessionId);
    addEventListener('popstate', () => this.#open(currentPlace()));
    addEventListener('online', () => this.retry());
    // What the server does not have yet would be lost with the page.
    addEventListener('beforeunload', (event) => this.#hasUnsent && event.preventDefault());
    effect(() => this.#nameInAddress());
    effect(() => {
      if (this.#session.value?.isLoggedOut.value) this.sessions.refused();
    });
    effect(() => (this.sessions.isLoggedOut.value ? () => void this.#goOn() : undefined));
    effect(() => wear(this.theme.value));
    // What is open belongs to the session it was opened in, also where a command leads to another one.
    effect(() => {
      if (this.#sessionId.value !== undefined) this.sheet.value = undefined;
    });
    this.attention = new Attention(this.#session, this.title);
    const news = computed(() => newsOf(this.#session.value));
    effect(() => {
      if (news.value !== undefined) void this.sessions.refresh();
    });
  }

  /** The session that is looked at. There is none where somebody who may not begin one has not chosen any. */
  get session(): ReadonlySignal<LiveSession | undefined> {
    return this.#session;
  }

  /** The session that is looked at, also after a move. */
  get sessionId(): ReadonlySignal<string | undefined> {
    return this.#sessionId;
  }

  #titleNow(): string {
    const session = this.#session.value;
    const id = this.#sessionId.value;
    const summary = this.sessions.sessions.value?.find((one) => one.id === id);
    return titleOf(session?.view.value ?? emptyView, { summary, isNew: session?.place.kind === 'new' });
  }

  may(scope: 'prompt' | 'bash' | 'admin'): boolean {
    return this.visitor.scopes.includes(scope);
  }

  /** Asks the server again for everything that it did not answer. */
  retry(): void {
    this.#session.value?.remote.retry();
    void this.sessions.refresh();
  }

  /** Looks at another session. */
  go(place: Place): void {
    this.isListOpen.value = false;
    if (place.id === this.#here()) return;
    pushPlace(place);
    this.#open(place);
  }

  /** Begins another session, in the folder of the server unless there is another; stays in one that has not begun. */
  begin(cwd?: string): void {
    this.sheet.value = undefined;
    const here = currentPlace();
    this.go(here.kind === 'new' && here.cwd === cwd && this.#session.value ? here : newPlace(cwd));
  }

  /** The session that is looked at is about to be no more: the next move takes its place in the history. */
  abandon(): void {
    this.#abandoned = this.#here();
  }

  /** What was abandoned stays after all: looks at it again, where it was in the history. */
  reclaim(): void {
    const id = this.#abandoned;
    this.#abandoned = undefined;
    if (id === undefined || id === this.#here()) return;
    const place: Place = { kind: 'session', id };
    replacePlace(place);
    this.#open(place);
  }

  /** A move may not be drawn yet. */
  #here(): string | undefined {
    const session = this.#session.value;
    return session?.remote.sessionId ?? session?.place.id;
  }

  #open(place: Place): void {
    this.sheet.value = undefined;
    this.#abandoned = undefined;
    // A fragment of the same address is no other place.
    if (place.id === this.#here()) return;
    this.#replace(place);
  }

  #replace(place: Place): void {
    const before = this.#session.value;
    this.#session.value = this.#live(place);
    if (before) this.#leave(before);
  }

  #leave(session: LiveSession): void {
    this.#left.add(session);
    session.remote.onClose(() => this.#left.delete(session));
    session.close();
  }

  get #hasUnsent(): boolean {
    const isUnsent = ({ remote }: LiveSession) => remote.outbox.some(({ state }) => state === 'waiting');
    return (this.#session.value?.remote.outbox.length ?? 0) > 0 || [...this.#left].some(isUnsent);
  }

  #live(place: Place): LiveSession | undefined {
    return place.kind === 'session' || this.may('prompt') ? new LiveSession(place) : undefined;
  }

  /** Somebody has logged in again, in another tab: goes on where it was, unless that was somebody else. */
  async #goOn(): Promise<void> {
    const visitor = await whoIsIn().catch(() => undefined);
    if (JSON.stringify(visitor) !== JSON.stringify(this.visitor)) location.reload();
    else if (this.#session.value?.isLoggedOut.value) this.#replace(currentPlace());
  }

  /**
   * A new session has its own address once something is said in it: until then there may be nothing to come back to. Where
   * a command has led the connection elsewhere, Back leads to where it was, unless there is nothing any more.
   */
  #nameInAddress(): void {
    const session = this.#session.value;
    const { messages = [], state = {} } = session?.view.value ?? {};
    const { sessionId: id, cwd } = state;
    if (!session || id === undefined || cwd === undefined) return;
    const isSaid = messages.length > 0;
    const here = currentPlace();
    const hasMoved = this.#named?.session === session && ![id, this.#abandoned].includes(this.#named.id);
    const place: Place = isSaid ? { kind: 'session', id } : { kind: 'new', id, cwd };
    if (here.id !== id || (isSaid && here.kind === 'new')) (hasMoved ? pushPlace : replacePlace)(place);
    this.#named = { session, id };
  }
}

/** What the list of sessions tells, too: when it is another, the list is. */
function newsOf(session: LiveSession | undefined): string | undefined {
  if (!session) return undefined;
  const { running, dialogs, messages, state } = session.view.value;
  return JSON.stringify([running, dialogs.length > 0, messages.length > 0, state.sessionId, state.sessionName]);
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
