/** Oldest drafts are removed first. */
export const MAX_DRAFTS = 50;

/** Longer drafts are not stored. */
export const MAX_DRAFT_CHARACTERS = 200_000;

// Drafts are stored in pauses between key strokes.
const SAVE_DELAY_MS = 300;

const PREFIX = 'tau-draft:';

interface StoredDraft {
  readonly text: string;
  readonly writtenAt: number;
}

/** Drafts in the storage of the browser, if it has one. */
export class DraftStore {
  readonly #storage: Storage | undefined;
  /** The last read or written text by session id. */
  readonly #texts = new Map<string, string>();
  /** Sessions whose drafts are not stored yet. */
  readonly #unsaved = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(storage: Storage | undefined) {
    this.#storage = storage;
    this.#removeOldest();
  }

  get(sessionId: string): string {
    return this.#texts.get(sessionId) ?? this.reload(sessionId);
  }

  /** Reads the draft again: another tab may have changed it. */
  reload(sessionId: string): string {
    const text = this.#load(PREFIX + sessionId)?.text ?? '';
    this.#texts.set(sessionId, text);
    return text;
  }

  /** Stores a draft after a pause. An empty draft was sent and is removed at once. */
  set(sessionId: string, text: string): void {
    this.#texts.set(sessionId, text);
    this.#unsaved.add(sessionId);
    clearTimeout(this.#timer);
    if (text === '') this.flush();
    else this.#timer = setTimeout(() => this.flush(), SAVE_DELAY_MS);
  }

  /** Stores all unsaved drafts at once. */
  flush(): void {
    clearTimeout(this.#timer);
    for (const sessionId of this.#unsaved) this.#write(PREFIX + sessionId, this.#texts.get(sessionId) ?? '');
    this.#unsaved.clear();
  }

  discard(): void {
    clearTimeout(this.#timer);
    this.#unsaved.clear();
  }

  /** Returns the session whose draft another tab has changed. */
  sessionOf({ key, storageArea }: StorageEvent): string | undefined {
    return storageArea === this.#storage && key?.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
  }

  #write(key: string, text: string): void {
    try {
      if (text === '' || text.length > MAX_DRAFT_CHARACTERS) this.#storage?.removeItem(key);
      else this.#storage?.setItem(key, JSON.stringify({ text, writtenAt: Date.now() } satisfies StoredDraft));
    } catch {
      // The storage is full: the draft lasts as long as the page.
    }
  }

  #load(key: string): StoredDraft | undefined {
    try {
      const stored = JSON.parse(this.#storage?.getItem(key) ?? 'null') as Partial<StoredDraft> | null;
      return typeof stored?.text === 'string'
        ? { text: stored.text, writtenAt: Number(stored.writtenAt) || 0 }
        : undefined;
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

/** Returns the local storage; some browsers deny it. */
export function browserStorage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
