/** Drafts that are kept; those that were written first go first. */
export const MAX_DRAFTS = 50;

/** A longer draft lasts as long as the page. */
export const MAX_DRAFT_CHARACTERS = 200_000;

/** Between two letters there is less time than this: what is being written is kept in the pauses. */
const SAVE_DELAY_MS = 300;

const PREFIX = 'tau-draft:';

interface StoredDraft {
  readonly text: string;
  readonly writtenAt: number;
}

/** Drafts as the browser keeps them, if it keeps anything. */
export class DraftStore {
  readonly #storage: Storage | undefined;
  /** By the ids of sessions, what was read or written last. */
  readonly #texts = new Map<string, string>();
  /** Sessions whose drafts are still to be written. */
  readonly #unsaved = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(storage: Storage | undefined) {
    this.#storage = storage;
    this.#removeOldest();
  }

  /** What was written in a session; empty when nothing was. */
  get(sessionId: string): string {
    return this.#texts.get(sessionId) ?? this.reload(sessionId);
  }

  /** The same as it is kept now: another tab may have changed it. */
  reload(sessionId: string): string {
    const text = this.#load(PREFIX + sessionId)?.text ?? '';
    this.#texts.set(sessionId, text);
    return text;
  }

  /** Keeps a draft in the next pause, if there is room for it. An empty one is forgotten at once: it was sent. */
  set(sessionId: string, text: string): void {
    this.#texts.set(sessionId, text);
    this.#unsaved.add(sessionId);
    clearTimeout(this.#timer);
    if (text === '') this.flush();
    else this.#timer = setTimeout(() => this.flush(), SAVE_DELAY_MS);
  }

  /** Keeps what is still to be kept, at once. */
  flush(): void {
    clearTimeout(this.#timer);
    for (const sessionId of this.#unsaved) this.#write(PREFIX + sessionId, this.#texts.get(sessionId) ?? '');
    this.#unsaved.clear();
  }

  /** Keeps nothing of what is still to be kept. */
  discard(): void {
    clearTimeout(this.#timer);
    this.#unsaved.clear();
  }

  /** The session whose draft another tab has changed. */
  sessionOf({ key, storageArea }: StorageEvent): string | undefined {
    return storageArea === this.#storage && key?.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
  }

  #write(key: string, text: string): void {
    try {
      if (text === '' || text.length > MAX_DRAFT_CHARACTERS) this.#storage?.removeItem(key);
      else this.#storage?.setItem(key, JSON.stringify({ text, writtenAt: Date.now() } satisfies StoredDraft));
    } catch {
      // It is full: the draft lasts as long as the page.
    }
  }

  #load(key: string): StoredDraft | undefined {
    try {
      const stored = JSON.parse(this.#storage?.getItem(key) ?? 'null') as Partial<StoredDraft> | null;
      return typeof stored?.text === 'string' ? { text: stored.text, writtenAt: Number(stored.writtenAt) || 0 } : undefined;
    } catch {
      return undefined;
    }
  }

  #removeOldest(): void {
    const { length = 0 } = this.#storage ?? {};
    const keys = Array.from({ length }, (_, at) => this.#storage?.key(at) ?? '').filter((key) =>
      key.startsWith(PREFIX),
    );
    if (keys.length <= MAX_DRAFTS) return;
    const ages = new Map(keys.map((key) => [key, this.#load(key)?.writtenAt ?? 0]));
    const age = (key: string) => ages.get(key) ?? 0;
    for (const key of keys.sort((one, other) => age(other) - age(one)).slice(MAX_DRAFTS)) {
      this.#storage?.removeItem(key);
    }
  }
}

/** What this browser keeps; some keep nothing. */
export function browserStorage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
