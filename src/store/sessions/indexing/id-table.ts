const NONE = -1;
const SHORT = 8;
const HEX = /^[0-9a-f]+$/;

/**
 * The ids of a session, numbered in the order they were added.
 *
 * An id is nearly always eight hex digits, a 32-bit number. As numbers, fifty thousand ids take a fifth of the memory
 * of a Map of strings and cause no garbage collection.
 */
export class IdTable {
  #size = 0;
  #values = new Uint32Array(64);
  #slots = new Int32Array(128).fill(NONE);
  readonly #otherRows = new Map<string, number>();
  readonly #otherIds = new Map<number, string>();

  get size(): number {
    return this.#size;
  }

  row(id: string): number | undefined {
    const value = numberOf(id);
    if (value === NONE) return this.#otherRows.get(id);
    const row = this.#slots[this.#slotOf(value)] ?? NONE;
    return row === NONE ? undefined : row;
  }

  id(row: number): string {
    return this.#otherIds.get(row) ?? (this.#values[row] ?? 0).toString(16).padStart(SHORT, '0');
  }

  /** The row of an id; a new id gets the next row. */
  add(id: string): number {
    const row = this.#size;
    if (row === this.#values.length) this.#grow();
    const value = numberOf(id);
    if (value === NONE) return this.#addOther(id);
    const slot = this.#slotOf(value);
    const taken = this.#slots[slot] ?? NONE;
    if (taken !== NONE) return taken;
    this.#slots[slot] = row;
    this.#values[row] = value;
    this.#size = row + 1;
    return row;
  }

  #addOther(id: string): number {
    const taken = this.#otherRows.get(id);
    if (taken !== undefined) return taken;
    this.#otherRows.set(id, this.#size);
    this.#otherIds.set(this.#size, id);
    return this.#size++;
  }

  /** The slot that holds this number, or the free slot for it. */
  #slotOf(value: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = spread(value) & mask; ; slot = (slot + 1) & mask) {
      const row = this.#slots[slot] ?? NONE;
      if (row === NONE || this.#values[row] === value) return slot;
    }
  }

  #grow(): void {
    const values = new Uint32Array(this.#values.length * 2);
    values.set(this.#values);
    this.#values = values;
    this.#slots = new Int32Array(values.length * 2).fill(NONE);
    for (let row = 0; row < this.#size; row++) {
      if (this.#otherIds.size === 0 || !this.#otherIds.has(row)) this.#slots[this.#slotOf(values[row] ?? 0)] = row;
    }
  }
}

/** Random ids need no mixing, but ids of other programs may not be random. */
const spread = (value: number) => Math.imul(value, 0x9e3779b1) >>> 12;

/** The number of eight hex digits; NONE for any other id. */
const numberOf = (id: string) => (id.length === SHORT && HEX.test(id) ? Number.parseInt(id, 16) : NONE);
