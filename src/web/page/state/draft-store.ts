/** Drafts that are kept; those that were written first go first. */
export const MAX_DRAFTS = 50;

/** A longer draft lasts as long as the page. */
export const MAX_DRAFT_CHARACTERS = 200_000;

const PREFIX = 'tau-draft:';

interface Kept {
  readonly text: string;
  readonly writtenAt: number;
}

/** Drafts as the browser keeps them, if it keeps anything. */
export class DraftStore {
  readonly #storage: Storage | undefined;

  constructor(storage: Storage | undefined) {
    this.#storage = storage;
  }

  /** What was written in a session; empty when nothing was. */
  get(sessionId: string): string {
    return this.#kept(PREFIX + sessionId)?.text ?? '';
  }

  /** Keeps a draft, if there is room for it; an empty one is forgotten. */
  set(sessionId: string, text: string): void {
    const key = PREFIX + sessionId;
    try {
      if (text === '' || text.length > MAX_DRAFT_CHARACTERS) this.#storage?.removeItem(key);
      else {
        this.#storage?.setItem(key, JSON.stringify({ text, writtenAt: Date.now() } satisfies Kept));
        this.#forgetOldest();
      }
    } catch {
      // It is full: the draft lasts as long as the page.
    }
  }

  /** The session whose draft another tab has changed. */
  sessionOf({ key, storageArea }: StorageEvent): string | undefined {
    return storageArea === this.#storage && key?.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
  }

  #kept(key: string): Kept | undefined {
    try {
      const kept = JSON.parse(this.#storage?.getItem(key) ?? 'null') as Partial<Kept> | null;
      return typeof kept?.text === 'string' ? { text: kept.text, writtenAt: Number(kept.writtenAt) || 0 } : undefined;
    } catch {
      return undefined;
    }
  }

  #forgetOldest(): void {
    const { length = 0 } = this.#storage ?? {};
    const keys = Array.from({ length }, (_, at) => this.#storage?.key(at) ?? '').filter((key) =>
      key.startsWith(PREFIX),
    );
    if (keys.length <= MAX_DRAFTS) return;
    const age = (key: string) => this.#kept(key)?.writtenAt ?? 0;
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
