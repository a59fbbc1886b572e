/** Row heights with offsets and lookup by offset in logarithmic time. */
export class RowHeights {
  readonly #heights: Float64Array;
  /** A Fenwick tree: each node sums as many heights up to its own as its lowest bit says. */
  readonly #sums: Float64Array;

  constructor(heights: Iterable<number>) {
    this.#heights = Float64Array.from(heights);
    const sums = new Float64Array(this.length + 1);
    sums.set(this.#heights, 1);
    for (let node = 1; node < sums.length; node++) {
      const next = node + (node & -node);
      if (next < sums.length) sums[next] = (sums[next] ?? 0) + (sums[node] ?? 0);
    }
    this.#sums = sums;
  }

  get length(): number {
    return this.#heights.length;
  }

  get total(): number {
    return this.offsetOf(this.length);
  }

  get(index: number): number {
    return this.#heights[index] ?? 0;
  }

  set(index: number, height: number): void {
    if (!(index >= 0 && index < this.length)) return;
    const change = height - this.get(index);
    this.#heights[index] = height;
    for (let node = index + 1; node < this.#sums.length; node += node & -node)
      this.#sums[node] = (this.#sums[node] ?? 0) + change;
  }

  /** Returns the sum of the heights before this row. */
  offsetOf(index: number): number {
    let sum = 0;
    for (let node = Math.min(index, this.length); node > 0; node -= node & -node) sum += this.#sums[node] ?? 0;
    return sum;
  }

  /** Returns the row at this offset, clamped to the first and last row. */
  indexAt(offset: number): number {
    let index = 0;
    let rest = offset;
    for (let step = highestBit(this.length); step > 0; step >>= 1) {
      const sum = this.#sums[index + step];
      if (sum === undefined || sum > rest) continue;
      index += step;
      rest -= sum;
    }
    return Math.max(0, Math.min(index, this.length - 1));
  }
}

const highestBit = (count: number) => (count === 0 ? 0 : 2 ** (31 - Math.clz32(count)));
