import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { emptyView, type ConversationView } from '../../../client/view/view.ts';
import { LiveSession } from './live-session.ts';
import { currentLocation, newSessionLocation, type PageLocation, pushLocation, replaceLocation } from './page-location.ts';

/** Goes from session to session. The address, and the history of the tab, say which one is looked at. */
export class Navigation {
  /** What is known of the session that is looked at. */
  readonly view: ReadonlySignal<ConversationView> = computed(() => this.#session.value?.view.value ?? emptyView);
  /** The session that is looked at, also after a move. */
  readonly sessionId: ReadonlySignal<string | undefined> = computed(() => this.#session.value?.id.value);
  readonly #mayCreate: boolean;
  readonly #session: Signal<LiveSession | undefined> = signal(undefined);
  /** Sessions that were left, until what was asked for in them is answered. */
  readonly #closing = new Set<LiveSession>();
  /** What the address names, and the connection that it was named for. */
  #addressed: { readonly session: LiveSession; readonly id: string } | undefined;
  /** The session whose place in the history the next move takes. */
  #deletedId: string | undefined;

  constructor({ mayCreate: mayBegin }: { readonly mayCreate: boolean }) {
    this.#mayCreate = mayCreate;
    this.#session.value = this.#connect(currentLocation());
    addEventListener('popstate', () => this.#open(currentLocation()));
    const cwd = computed(() => this.view.value.state.cwd);
    const hasMessages = computed(() => this.view.value.messages.length > 0);
    effect(() => {
      const session = this.#session.value;
      const id = this.sessionId.value;
      if (!session || id === undefined || cwd.value === undefined) return;
      const target: PageLocation = hasMessages.value ? { kind: 'session', id } : { kind: 'new', id, cwd: cwd.value };
      this.#updateAddress(session, target);
    });
  }

  /** The session that is looked at. There is none where somebody who may not begin one has not chosen any. */
  get session(): ReadonlySignal<LiveSession | undefined> {
    return this.#session;
  }

  /** Whether something would be lost with the page that the server does not have yet. */
  get hasUnsent(): boolean {
    const isUnsent = ({ remote }: LiveSession) => remote.outbox.some(({ state }) => state === 'waiting');
    return (this.#session.value?.remote.outbox.length ?? 0) > 0 || [...this.#closing].some(isUnsent);
  }

  /** Looks at another session. */
  goTo(target: PageLocation): void {
    if (target.id === this.#currentId) return;
    pushLocation(target);
    this.#open(target);
  }

  /** Begins another session, in the folder of the server unless there is another; stays in one that has not begun. */
  openNew(cwd?: string): void {
    const current = currentLocation();
    this.goTo(current.kind === 'new' && current.cwd === cwd && this.#session.value ? current : newSessionLocation(cwd));
  }

  /** Connects anew to what is looked at. */
  reconnect(): void {
    this.#replace(currentLocation());
  }

  /** The session that is looked at is about to be no more: the next move takes its place in the history. */
  prepareDelete(): void {
    this.#deletedId = this.#currentId;
  }

  /** What was abandoned stays after all: looks at it again, where it was in the history. */
  cancelDelete(): void {
    const id = this.#deletedId;
    this.#deletedId = undefined;
    if (id === undefined || id === this.#currentId) return;
    const target: PageLocation = { kind: 'session', id };
    replaceLocation(target);
    this.#open(target);
  }

  /** What was abandoned is no more: a new session takes its place in the history, unless somebody has gone elsewhere. */
  replaceDeleted(cwd: string): void {
    if (this.#deletedId === undefined) return;
    this.#deletedId = undefined;
    const target = newSessionLocation(cwd);
    replaceLocation(target);
    this.#replace(target);
  }

  get #currentId(): string | undefined {
    return this.#session.value?.latestId;
  }

  #open(target: PageLocation): void {
    this.#deletedId = undefined;
    // A fragment of the same address is no other place.
    if (target.id !== this.#currentId) this.#replace(target);
  }

  #replace(target: PageLocation): void {
    const previous = this.#session.value;
    this.#session.value = this.#connect(target);
    if (previous) this.#close(previous);
  }

  #close(session: LiveSession): void {
    this.#closing.add(session);
    session.remote.onClose(() => this.#closing.delete(session));
    session.close();
  }

  #connect(target: PageLocation): LiveSession | undefined {
    return target.kind === 'session' || this.#mayCreate ? new LiveSession(target) : undefined;
  }

  /**
   * A new session has its own address once something is said in it: until then there may be nothing to come back to. Where
   * a command has led the connection elsewhere, Back leads to where it was, unless there is nothing any more.
   */
  #updateAddress(session: LiveSession, target: PageLocation): void {
    const { id } = target;
    const current = currentLocation();
    const hasMoved = this.#addressed?.session === session && ![id, this.#deletedId].includes(this.#addressed.id);
    if (current.id !== id || (target.kind === 'session' && current.kind === 'new'))
      (hasMoved ? pushLocation : replaceLocation)(target);
    this.#addressed = { session, id };
  }
}
