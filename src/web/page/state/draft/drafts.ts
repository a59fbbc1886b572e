import { effect, type Signal, signal } from '@preact/signals';
import { browserStorage, DraftStore } from './draft-store.ts';
import { MessageDraft } from './message-draft.ts';

/** The unsent drafts of all sessions. They survive the page and appear in other tabs without own text. */
export class Drafts {
  readonly #store: DraftStore;
  readonly #texts = new Map<string, Signal<string>>();
  readonly #drafts = new Map<string, MessageDraft>();
  /** Sessions whose draft was edited in this tab since another tab changed it. */
  readonly #editedHere = new Set<string>();

  constructor(store: DraftStore = new DraftStore(browserStorage())) {
    this.#store = store;
    globalThis.addEventListener?.('storage', (event) => this.onStorage(event));
    // The page may be discarded without another event.
    for (const type of ['pagehide', 'visibilitychange']) globalThis.addEventListener?.(type, () => store.flush());
  }

  /** Returns the text of a draft. */
  text(sessionId: string): Signal<string> {
    const known = this.#texts.get(sessionId);
    if (known) return known;
    const text = signal(this.#store.get(sessionId));
    this.#texts.set(sessionId, text);
    effect(() => this.#save(sessionId, text.value));
    return text;
  }

  /** Returns the draft of a session. */
  get(sessionId: string): MessageDraft {
    const known = this.#drafts.get(sessionId);
    if (known) return known;
    const draft = new MessageDraft(this.text(sessionId));
    this.#drafts.set(sessionId, draft);
    return draft;
  }

  /** Whether attachments would be lost with the page: they are not stored. */
  get hasAttachments(): boolean {
    return [...this.#drafts.values()].some(({ attachments }) => attachments.value.length > 0);
  }

  /** Takes over the text of another tab, unless the draft was edited here. */
  onStorage(event: StorageEvent): void {
    const sessionId = this.#store.sessionOf(event);
    const text = sessionId === undefined ? undefined : this.#texts.get(sessionId);
    if (sessionId !== undefined && text && !this.#editedHere.has(sessionId)) text.value = this.#store.reload(sessionId);
  }

  /** Removes the draft of a deleted session. */
  remove(sessionId: string): void {
    this.text(sessionId).value = '';
    this.#drafts.delete(sessionId);
  }

  /** Discards drafts that are not stored yet. */
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
