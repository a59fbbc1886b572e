/** Heights of rows in order: where each begins, and which one is at a place, without adding them all up. */
export class RowHeights {
  readonly #heights: Float64Array;
  /** Each holds the sum of as many heights up to its own as the lowest bit of its number says. */
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
    for (let node = index + 1; node < this.#sums.length; node += node & -node) this.#sums[node] = (this.#sums[node] ?? 0) + change;
  }

  /** How high all rows before this one are together. */
  offsetOf(index: number): number {
    let sum = 0;
    for (let node = Math.min(index, this.length); node > 0; node -= node & -node) sum += this.#sums[node] ?? 0;
    return sum;
  }

  /** The row at this distance from the first one's top; beyond both ends the first, or the last. */
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
