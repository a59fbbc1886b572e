import { Heights } from './heights.ts';

export interface Keyed {
  readonly key: number;
}

/** Rows and how high each is: as it was when it was drawn last, or guessed until then. */
export class MeasuredRows<R extends Keyed> {
  readonly #guess: (row: R) => number;
  readonly #known = new Map<number, number>();
  readonly #held = new Map<number, HTMLElement>();
  readonly #keys = new WeakMap<Element, number>();
  readonly #unmeasured = new Set<number>();
  #rows: readonly R[] = [];
  #places = new Map<number, number>();
  #heights = new Heights([]);

  constructor(guess: (row: R) => number) {
    this.#guess = guess;
  }

  get rows(): readonly R[] {
    return this.#rows;
  }

  /** Where rows begin and end, by their places. */
  get heights(): Pick<Heights, 'before' | 'at' | 'total'> {
    return this.#heights;
  }

  take(rows: readonly R[]): void {
    this.#rows = rows;
    this.#places = new Map(rows.map(({ key }, index) => [key, index]));
    this.#heights = new Heights(rows.map((row) => this.#heightOf(row)));
  }

  placeOf(key: number): number | undefined {
    return this.#places.get(key);
  }

  /** Where a row is drawn, if it is. */
  elementOf(key: number): HTMLElement | undefined {
    return this.#held.get(key);
  }

  /** The row that is drawn there. */
  keyOf(element: Element): number | undefined {
    const key = this.#keys.get(element);
    return key !== undefined && this.#held.get(key) === element ? key : undefined;
  }

  /** A row was drawn. */
  hold(key: number, element: HTMLElement): void {
    this.#held.set(key, element);
    this.#keys.set(element, key);
    this.#unmeasured.add(key);
  }

  /** A row is drawn no more. */
  release(key: number): void {
    this.#held.delete(key);
    this.#unmeasured.delete(key);
  }

  /** Measures what was drawn since the last time. */
  measureNew(): void {
    for (const key of this.#unmeasured) this.#measure(key, this.#held.get(key)?.getBoundingClientRect().height ?? 0);
    this.#unmeasured.clear();
  }

  /** Some of what is drawn has become higher or lower. */
  resized(entries: readonly ResizeObserverEntry[]): void {
    for (const { target, borderBoxSize } of entries) {
      const key = this.keyOf(target);
      if (key !== undefined) this.#measure(key, borderBoxSize[0]?.blockSize ?? 0);
    }
  }

  #heightOf(row: R): number {
    const known = this.#known.get(row.key) ?? this.#guess(row);
    this.#known.set(row.key, known);
    return known;
  }

  #measure(key: number, height: number): void {
    const place = this.#places.get(key);
    this.#known.set(key, height);
    if (place !== undefined) this.#heights.set(place, height);
  }
}
