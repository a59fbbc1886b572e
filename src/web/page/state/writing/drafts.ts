import { effect, type Signal, signal } from '@preact/signals';
import { browserStorage, DraftStore } from './draft-store.ts';
import { Writing } from './writing.ts';

/** What was written in each session and not sent. It survives the page, and is in other tabs unless they have their own. */
export class Drafts {
  readonly #store: DraftStore;
  readonly #texts = new Map<string, Signal<string>>();
  readonly #writings = new Map<string, Writing>();
  /** Sessions in which something was written here, and not elsewhere since. */
  readonly #touched = new Set<string>();

  constructor(store: DraftStore = new DraftStore(browserStorage())) {
    this.#store = store;
    globalThis.addEventListener?.('storage', (event) => this.hear(event));
    // The page may never be heard of again.
    for (const type of ['pagehide', 'visibilitychange']) globalThis.addEventListener?.(type, () => store.flush());
  }

  /** The words of a draft. */
  of(sessionId: string): Signal<string> {
    const known = this.#texts.get(sessionId);
    if (known) return known;
    const text = signal(this.#store.get(sessionId));
    this.#texts.set(sessionId, text);
    effect(() => this.#keep(sessionId, text.value));
    return text;
  }

  /** All that is being written in a session. */
  writingIn(sessionId: string): Writing {
    const known = this.#writings.get(sessionId);
    if (known) return known;
    const writing = new Writing(this.of(sessionId));
    this.#writings.set(sessionId, writing);
    return writing;
  }

  /** Whether something is attached that goes with the page: no browser keeps that. */
  get hasAttachments(): boolean {
    return [...this.#writings.values()].some(({ attachments }) => attachments.value.length > 0);
  }

  /** Another tab has changed something: whoever has written nothing here takes it over. */
  hear(event: StorageEvent): void {
    const sessionId = this.#store.sessionOf(event);
    const text = sessionId === undefined ? undefined : this.#texts.get(sessionId);
    if (sessionId !== undefined && text && !this.#touched.has(sessionId)) text.value = this.#store.read(sessionId);
  }

  /** The session is no more. */
  forget(sessionId: string): void {
    this.of(sessionId).value = '';
    this.#writings.delete(sessionId);
  }

  /** Nothing more is kept of what is written here. */
  dropUnkept(): void {
    this.#store.drop();
  }

  #keep(sessionId: string, text: string): void {
    if (text === this.#store.get(sessionId)) return;
    this.#store.set(sessionId, text);
    if (text === '') this.#touched.delete(sessionId);
    else this.#touched.add(sessionId);
  }
}
