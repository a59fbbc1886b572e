import { effect, type Signal, signal } from '@preact/signals';
import { browserStorage, DraftStore } from './draft-store.ts';
import { MessageDraft } from './message-draft.ts';

/** What was written in each session and not sent. It survives the page, and is in other tabs unless they have their own. */
export class Drafts {
  readonly #store: DraftStore;
  readonly #texts = new Map<string, Signal<string>>();
  readonly #drafts = new Map<string, MessageDraft>();
  /** Sessions in which something was written here, and not elsewhere since. */
  readonly #editedHere = new Set<string>();

  constructor(store: DraftStore = new DraftStore(browserStorage())) {
    this.#store = store;
    globalThis.addEventListener?.('storage', (event) => this.onStorage(event));
    // The page may never be heard of again.
    for (const type of ['pagehide', 'visibilitychange']) globalThis.addEventListener?.(type, () => store.flush());
  }

  /** The words of a draft. */
  text(sessionId: string): Signal<string> {
    const known = this.#texts.get(sessionId);
    if (known) return known;
    const text = signal(this.#store.get(sessionId));
    this.#texts.set(sessionId, text);
    effect(() => this.#save(sessionId, text.value));
    return text;
  }

  /** All that is being written in a session. */
  get(sessionId: string): MessageDraft {
    const known = this.#drafts.get(sessionId);
    if (known) return known;
    const draft = new MessageDraft(this.text(sessionId));
    this.#drafts.set(sessionId, draft);
    return draft;
  }

  /** Whether something is attached that goes with the page: no browser keeps that. */
  get hasAttachments(): boolean {
    return [...this.#drafts.values()].some(({ attachments }) => attachments.value.length > 0);
  }

  /** Another tab has changed something: whoever has written nothing here takes it over. */
  onStorage(event: StorageEvent): void {
    const sessionId = this.#store.sessionOf(event);
    const text = sessionId === undefined ? undefined : this.#texts.get(sessionId);
    if (sessionId !== undefined && text && !this.#editedHere.has(sessionId)) text.value = this.#store.reload(sessionId);
  }

  /** The session is no more. */
  remove(sessionId: string): void {
    this.text(sessionId).value = '';
    this.#drafts.delete(sessionId);
  }

  /** Nothing more is kept of what is written here. */
  discard(): void {
    this.#store.discard();
  }

  #save(sessionId: string, text: string): void {
    if (text === this.#store.get(sessionId)) return;
    this.#store.set(sessionId, text);
    if (text === '') this.#editedHere.delete(sessionId);
    else this.#editedHere.add(sessionId);
  }
}
