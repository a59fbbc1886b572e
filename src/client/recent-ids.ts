// The number of ids that are remembered.
export const MAX_RECENT_IDS = 100;

/** Remembers the most recent ids. */
export class RecentIds {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (oldest !== undefined && this.#ids.size > MAX_RECENT_IDS) this.#ids.delete(oldest);
  }
}
