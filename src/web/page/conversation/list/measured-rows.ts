import { RowHeights } from './row-heights.ts';

export interface Keyed {
  readonly key: number;
}

/** Rows with their heights: measured when drawn, estimated before. */
export class MeasuredRows<R extends Keyed> {
  readonly #estimate: (row: R) => number;
  readonly #knownHeights = new Map<number, number>();
  readonly #elements = new Map<number, HTMLElement>();
  readonly #keys = new WeakMap<Element, number>();
  readonly #unmeasured = new Set<number>();
  #rows: readonly R[] = [];
  #indexes = new Map<number, number>();
  #heights = new RowHeights([]);

  constructor(estimate: (row: R) => number) {
    this.#estimate = estimate;
  }

  get rows(): readonly R[] {
    return this.#rows;
  }

  /** Offsets and heights by row index. */
  get heights(): Pick<RowHeights, 'offsetOf' | 'indexAt' | 'total'> {
    return this.#heights;
  }

  setRows(rows: readonly R[]): void {
    this.#rows = rows;
    this.#indexes = new Map(rows.map(({ key }, index) => [key, index]));
    this.#heights = new RowHeights(rows.map((row) => this.#heightOf(row)));
  }

  indexOf(key: number): number | undefined {
    return this.#indexes.get(key);
  }

  /** Returns the element of a drawn row. */
  elementOf(key: number): HTMLElement | undefined {
    return this.#elements.get(key);
  }

  /** Returns the key of the row of an element. */
  keyOf(element: Element): number | undefined {
    const key = this.#keys.get(element);
    return key !== undefined && this.#elements.get(key) === element ? key : undefined;
  }

  mount(key: number, element: HTMLElement): void {
    this.#elements.set(key, element);
    this.#keys.set(element, key);
    this.#unmeasured.add(key);
  }

  unmount(key: number): void {
    this.#elements.delete(key);
    this.#unmeasured.delete(key);
  }

  /** Measures the rows that were drawn since the last call. */
  measureNew(): void {
    for (const key of this.#unmeasured)
      this.#measure(key, this.#elements.get(key)?.getBoundingClientRect().height ?? 0);
    this.#unmeasured.clear();
  }

  /** Updates the heights of resized rows. */
  onResize(entries: readonly ResizeObserverEntry[]): void {
    for (const { target, borderBoxSize } of entries) {
      const key = this.keyOf(target);
      if (key !== undefined) this.#measure(key, borderBoxSize[0]?.blockSize ?? 0);
    }
  }

  #heightOf(row: R): number {
    const known = this.#knownHeights.get(row.key) ?? this.#estimate(row);
    this.#knownHeights.set(row.key, known);
    return known;
  }

  #measure(key: number, height: number): void {
    const index = this.#indexes.get(key);
    this.#knownHeights.set(key, height);
    if (index !== undefined) this.#heights.set(index, height);
  }
}
