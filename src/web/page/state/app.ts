import { effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Visitor } from '../entrance/server.ts';
import { Drafts } from './drafts.ts';
import { LiveSession } from './live-session.ts';
import { addressOf, leaveBegun, newPlace, type Place, placeOf } from './place.ts';
import { SessionList } from './session-list.ts';

/** What lies over the page: one thing at a time. */
export type Sheet = 'shortcuts' | 'models' | 'thinking' | 'folders' | 'credentials' | 'search';

/** What the page as a whole knows: who looks, at which session, and what is open over it. */
export class App {
  readonly visitor: Visitor;
  readonly sessions = new SessionList();
  readonly drafts = new Drafts();
  readonly sheet: Signal<Sheet | undefined> = signal(undefined);
  /** Whether the list of sessions is open where there is no room for it beside the session. */
  readonly isListOpen: Signal<boolean> = signal(false);
  readonly #session: Signal<LiveSession>;

  constructor(visitor: Visitor) {
    this.visitor = visitor;
    this.#session = signal(new LiveSession(placeOf(location.search)));
    addEventListener('popstate', () => this.#open(placeOf(location.search)));
    addEventListener('online', () => this.#session.value.remote.retry());
    // What the server does not have yet would be lost with the page.
    addEventListener('beforeunload', (event) => this.session.value.remote.outbox.length > 0 && event.preventDefault());
    effect(() => this.#nameInAddress());
  }

  get session(): ReadonlySignal<LiveSession> {
    return this.#session;
  }

  may(scope: 'prompt' | 'bash' | 'admin'): boolean {
    return this.visitor.scopes.includes(scope);
  }

  /** Looks at another session. */
  go(place: Place): void {
    this.isListOpen.value = false;
    if (place.kind === 'session' && place.id === this.#session.value.remote.sessionId) return;
    history.pushState(null, '', addressOf(place));
    this.#open(place);
  }

  /** Begins another session, in the folder of the server unless there is another. */
  begin(cwd?: string): void {
    leaveBegun();
    this.go(newPlace(cwd));
  }

  #open(place: Place): void {
    this.sheet.value = undefined;
    const before = this.#session.value;
    this.#session.value = new LiveSession(place);
    before.close();
  }

  /** A new session has its own address once something is said in it: until then there may be nothing to come back to. */
  #nameInAddress(): void {
    const { messages, state } = this.#session.value.view.value;
    const { sessionId } = state;
    if (sessionId === undefined || messages.length === 0) return;
    const place: Place = { kind: 'session', id: sessionId };
    if (new URLSearchParams(location.search).get('session') === sessionId) return;
    leaveBegun();
    history.replaceState(null, '', addressOf(place));
    void this.sessions.refresh();
  }
}

export const AppContext = createContext<App | undefined>(undefined);

/** The page as a whole. */
export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error('There is no page around this');
  return app;
}

/** The session that is looked at. */
export const useSession = (): LiveSession => useApp().session.value;
