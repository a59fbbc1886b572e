import { incompleteBytes, orphanedBytes } from './incomplete-character.ts';

const FIRST_BYTES = 16 * 1024;

// A burst larger than this loses its beginning.
const MAX_NEW_BYTES = 1024 * 1024;

/** A part of the output. `offset` counts the bytes of the text before it; `skipped` of them were never returned. */
export interface NewText {
  readonly text: string;
  readonly offset: number;
  readonly skipped: number;
}

/** The output since the last `take`, at most `MAX_NEW_BYTES`. */
export class NewOutput {
  #buffer = Buffer.alloc(0);
  #length = 0;
  #skipped = 0;
  #offset = 0;

  add(bytes: Buffer): void {
    const kept = bytes.subarray(-MAX_NEW_BYTES);
    if (this.#length + kept.length > MAX_NEW_BYTES) this.#dropOldest(kept.length);
    this.#skipped += bytes.length - kept.length;
    if (this.#length + kept.length > this.#buffer.length) this.#grow(this.#length + kept.length);
    this.#buffer.set(kept, this.#length);
    this.#length += kept.length;
  }

  /** Returns the text since the last call. `isLast`: an incomplete character is no longer held back. */
  take({ isLast }: { readonly isLast: boolean }): NewText {
    const bytes = this.#buffer.subarray(0, this.#length);
    const start = this.#skipped > 0 ? orphanedBytes(bytes) : 0;
    const end = bytes.length - (isLast ? 0 : incompleteBytes(bytes));
    const text = bytes.toString('utf8', start, end);
    const skipped = this.#skipped + start;
    const offset = this.#offset + skipped;
    this.#offset = offset + Buffer.byteLength(text);
    this.#buffer.copyWithin(0, end, bytes.length);
    this.#length = bytes.length - end;
    this.#skipped = 0;
    return { text, offset, skipped };
  }

  /** Makes room for `bytes`; drops at least half, so that this is rare. */
  #dropOldest(bytes: number): void {
    const dropped = Math.min(this.#length, Math.max(MAX_NEW_BYTES / 2, this.#length + bytes - MAX_NEW_BYTES));
    this.#buffer.copyWithin(0, dropped, this.#length);
    this.#length -= dropped;
    this.#skipped += dropped;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.min(MAX_NEW_BYTES, Math.max(needed, 2 * this.#buffer.length, FIRST_BYTES)));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
