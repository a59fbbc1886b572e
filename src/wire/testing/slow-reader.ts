import type { Link } from '../link.ts';

/** A reader that takes what it is given, but may say that it is behind. */
export class SlowReader implements Pick<Link, 'write' | 'onDrain'> {
  readonly lines: string[] = [];
  /** How many lines it takes before it is behind. */
  capacity = Number.POSITIVE_INFINITY;
  #drained: () => void = () => {};

  write(text: string): boolean {
    this.lines.push(text);
    return --this.capacity > 0;
  }

  onDrain(listener: () => void): void {
    this.#drained = listener;
  }

  /** Goes on reading, this many lines. */
  drain(capacity = Number.POSITIVE_INFINITY): void {
    this.capacity = capacity;
    this.#drained();
  }

  /** What it has read so far. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was written
  get records(): any[] {
    return this.lines.map((line) => JSON.parse(line));
  }
}
