/** Append-only lines: in a file, or in memory for sessions without a file. */
export interface Lines {
  readonly size: number;
  append(text: string): void;
  read(position: number, length: number): Buffer;
  sync(): Promise<void>;
  close(): void;
}

// Larger buffers grow by a quarter instead of doubling.
const LARGE = 16 * 1024 * 1024;

/** The lines of a session without a file. */
export class MemoryLines implements Lines {
  #bytes = Buffer.alloc(4096);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  append(text: string): void {
    const length = Buffer.byteLength(text);
    if (this.#size + length > this.#bytes.length) this.#grow(this.#size + length);
    this.#size += this.#bytes.write(text, this.#size);
  }

  read(position: number, length: number): Buffer {
    return this.#bytes.subarray(position, Math.min(position + length, this.#size));
  }

  async sync(): Promise<void> {}

  close(): void {}

  #grow(needed: number): void {
    const { length } = this.#bytes;
    const bytes = Buffer.alloc(Math.max(needed, length < LARGE ? length * 2 : length + (length >> 2)));
    this.#bytes.copy(bytes, 0, 0, this.#size);
    this.#bytes = bytes;
  }
}
