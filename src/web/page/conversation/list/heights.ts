/** Heights of rows in order: where each begins, and which one is at a place, without adding them all up. */
export class Heights {
  readonly #heights: Float64Array;
  /** Each holds the sum of as many heights up to its own as the lowest bit of its number says. */
  readonly #sums: Float64Array;

  constructor(heights: Iterable<number>) {
    this.#heights = Float64Array.from(heights);
    const sums = new Float64Array(this.length + 1);
    sums.set(this.#heights, 1);
    for (let at = 1; at < sums.length; at++) {
      const next = at + (at & -at);
      if (next < sums.length) sums[next] = (sums[next] ?? 0) + (sums[at] ?? 0);
    }
    this.#sums = sums;
  }

  get length(): number {
    return this.#heights.length;
  }

  get total(): number {
    return this.before(this.length);
  }

  of(index: number): number {
    return this.#heights[index] ?? 0;
  }

  set(index: number, height: number): void {
    if (!(index >= 0 && index < this.length)) return;
    const change = height - this.of(index);
    this.#heights[index] = height;
    for (let at = index + 1; at < this.#sums.length; at += at & -at) this.#sums[at] = (this.#sums[at] ?? 0) + change;
  }

  /** How high all rows before this one are together. */
  before(index: number): number {
    let sum = 0;
    for (let at = Math.min(index, this.length); at > 0; at -= at & -at) sum += this.#sums[at] ?? 0;
    return sum;
  }

  /** The row at this distance from the first one's top; beyond both ends the first, or the last. */
  at(place: number): number {
    let index = 0;
    let rest = place;
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
