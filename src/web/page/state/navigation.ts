import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { type ConversationView, emptyView } from '../../../client/view/view.ts';
import { LiveSession } from './live-session.ts';
import {
  currentLocation,
  newSessionLocation,
  type PageLocation,
  pushLocation,
  replaceLocation,
} from './page-location.ts';

/** Opens sessions and keeps the address and the tab history in step. */
export class Navigation {
  /** The view of the open session. */
  readonly view: ReadonlySignal<ConversationView> = computed(() => this.#session.value?.view.value ?? emptyView);
  /** The id of the open session, also after a switch. */
  readonly sessionId: ReadonlySignal<string | undefined> = computed(() => this.#session.value?.id.value);
  readonly #mayCreate: boolean;
  readonly #session: Signal<LiveSession | undefined> = signal(undefined);
  /** Closed sessions with pending requests. */
  readonly #closing = new Set<LiveSession>();
  /** The session id in the address, and its connection. */
  #addressed: { readonly session: LiveSession; readonly id: string } | undefined;
  /** The session being deleted: the next one replaces its history entry. */
  #deletedId: string | undefined;

  constructor({ mayCreate }: { readonly mayCreate: boolean }) {
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

  /** The open session; undefined when the user may not create one and has not chosen any. */
  get session(): ReadonlySignal<LiveSession | undefined> {
    return this.#session;
  }

  /** Whether closing the page would lose messages that the server does not have. */
  get hasUnsent(): boolean {
    const isUnsent = ({ remote }: LiveSession) => remote.outbox.some(({ state }) => state === 'waiting');
    return (this.#session.value?.remote.outbox.length ?? 0) > 0 || [...this.#closing].some(isUnsent);
  }

  goTo(target: PageLocation): void {
    if (target.id === this.#currentId) return;
    pushLocation(target);
    this.#open(target);
  }

  /** Opens a new session; an unused one of the same folder is kept. */
  openNew(cwd?: string): void {
    const current = currentLocation();
    this.goTo(current.kind === 'new' && current.cwd === cwd && this.#session.value ? current : newSessionLocation(cwd));
  }

  /** Reconnects to the open session. */
  reconnect(): void {
    this.#replace(currentLocation());
  }

  /** Marks the open session as being deleted: the next session replaces its history entry. */
  prepareDelete(): void {
    this.#deletedId = this.#currentId;
  }

  /** Reopens the session whose deletion failed, in its history entry. */
  cancelDelete(): void {
    const id = this.#deletedId;
    this.#deletedId = undefined;
    if (id === undefined || id === this.#currentId) return;
    const target: PageLocation = { kind: 'session', id };
    replaceLocation(target);
    this.#open(target);
  }

  /** Replaces the history entry of the deleted session by a new session, unless the user has opened another one. */
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
    // A change of the fragment keeps the session.
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
   * A new session gets its own address with its first message. After a switch by a command, Back leads to the previous
   * session, unless that was deleted.
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
