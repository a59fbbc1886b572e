import type { Link } from '../link.ts';

/** A reader that records every line and reports back-pressure on demand. */
export class SlowReader implements Pick<Link, 'write' | 'onDrain'> {
  readonly lines: string[] = [];
  /** Lines until `write` returns false. */
  capacity = Number.POSITIVE_INFINITY;
  #drained: () => void = () => {};

  write(text: string): boolean {
    this.lines.push(text);
    return --this.capacity > 0;
  }

  onDrain(listener: () => void): void {
    this.#drained = listener;
  }

  /** Resumes reading, up to this many lines. */
  drain(capacity = Number.POSITIVE_INFINITY): void {
    this.capacity = capacity;
    this.#drained();
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was written
  get records(): any[] {
    return this.lines.map((line) => JSON.parse(line));
  }
}
