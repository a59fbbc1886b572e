import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { emptyView, type ConversationView } from '../../../client/view/view.ts';
import { LiveSession } from './live-session.ts';
import { currentPlace, newPlace, type Place, pushPlace, replacePlace } from './place.ts';

/** Goes from session to session. The address, and the history of the tab, say which one is looked at. */
export class Navigation {
  /** What is known of the session that is looked at. */
  readonly view: ReadonlySignal<ConversationView> = computed(() => this.#session.value?.view.value ?? emptyView);
  /** The session that is looked at, also after a move. */
  readonly sessionId: ReadonlySignal<string | undefined> = computed(() => this.#session.value?.id.value);
  readonly #mayBegin: boolean;
  readonly #session: Signal<LiveSession | undefined> = signal(undefined);
  /** Sessions that were left, until what was asked for in them is answered. */
  readonly #left = new Set<LiveSession>();
  /** What the address names, and the connection that it was named for. */
  #named: { readonly session: LiveSession; readonly id: string } | undefined;
  /** The session whose place in the history the next move takes. */
  #abandoned: string | undefined;

  constructor({ mayBegin }: { readonly mayBegin: boolean }) {
    this.#mayBegin = mayBegin;
    this.#session.value = this.#live(currentPlace());
    addEventListener('popstate', () => this.#open(currentPlace()));
    const cwd = computed(() => this.view.value.state.cwd);
    const isSaid = computed(() => this.view.value.messages.length > 0);
    effect(() => {
      const session = this.#session.value;
      const id = this.sessionId.value;
      if (!session || id === undefined || cwd.value === undefined) return;
      const place: Place = isSaid.value ? { kind: 'session', id } : { kind: 'new', id, cwd: cwd.value };
      this.#nameInAddress(session, place);
    });
  }

  /** The session that is looked at. There is none where somebody who may not begin one has not chosen any. */
  get session(): ReadonlySignal<LiveSession | undefined> {
    return this.#session;
  }

  /** Whether something would be lost with the page that the server does not have yet. */
  get hasUnsent(): boolean {
    const isUnsent = ({ remote }: LiveSession) => remote.outbox.some(({ state }) => state === 'waiting');
    return (this.#session.value?.remote.outbox.length ?? 0) > 0 || [...this.#left].some(isUnsent);
  }

  /** Looks at another session. */
  go(place: Place): void {
    if (place.id === this.#here) return;
    pushPlace(place);
    this.#open(place);
  }

  /** Begins another session, in the folder of the server unless there is another; stays in one that has not begun. */
  begin(cwd?: string): void {
    const here = currentPlace();
    this.go(here.kind === 'new' && here.cwd === cwd && this.#session.value ? here : newPlace(cwd));
  }

  /** Connects anew to what is looked at. */
  renew(): void {
    this.#replace(currentPlace());
  }

  /** The session that is looked at is about to be no more: the next move takes its place in the history. */
  abandon(): void {
    this.#abandoned = this.#here;
  }

  /** What was abandoned stays after all: looks at it again, where it was in the history. */
  reclaim(): void {
    const id = this.#abandoned;
    this.#abandoned = undefined;
    if (id === undefined || id === this.#here) return;
    const place: Place = { kind: 'session', id };
    replacePlace(place);
    this.#open(place);
  }

  /** What was abandoned is no more: a new session takes its place in the history, unless somebody has gone elsewhere. */
  beginInstead(cwd: string): void {
    if (this.#abandoned === undefined) return;
    this.#abandoned = undefined;
    const place = newPlace(cwd);
    replacePlace(place);
    this.#replace(place);
  }

  get #here(): string | undefined {
    return this.#session.value?.latestId;
  }

  #open(place: Place): void {
    this.#abandoned = undefined;
    // A fragment of the same address is no other place.
    if (place.id !== this.#here) this.#replace(place);
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

  #live(place: Place): LiveSession | undefined {
    return place.kind === 'session' || this.#mayBegin ? new LiveSession(place) : undefined;
  }

  /**
   * A new session has its own address once something is said in it: until then there may be nothing to come back to. Where
   * a command has led the connection elsewhere, Back leads to where it was, unless there is nothing any more.
   */
  #nameInAddress(session: LiveSession, place: Place): void {
    const { id } = place;
    const here = currentPlace();
    const hasMoved = this.#named?.session === session && ![id, this.#abandoned].includes(this.#named.id);
    if (here.id !== id || (place.kind === 'session' && here.kind === 'new'))
      (hasMoved ? pushPlace : replacePlace)(place);
    this.#named = { session, id };
  }
}
