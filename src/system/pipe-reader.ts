import { readSync } from 'node:fs';
import { Socket } from 'node:net';

/** The most that is read at once. */
const CHUNK_BYTES = 64 * 1024;

/** More than a pipe holds, unless its writer has a privilege and asked for more. */
const MAX_PIPE_BYTES = 1024 * 1024;

/** Who takes what arrives after its first reader has lost interest. */
export interface OutputSink {
  append(bytes: Buffer): void;
  close(): void;
}

/**
 * Hands over what arrives in a pipe until its last writer has gone. A writer never waits for long nor loses its reader.
 *
 * The bytes are good for the call only. Does not keep this process alive. Owns the descriptor.
 */
export class PipeReader {
  readonly #fd: number;
  readonly #socket: Socket;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #onBytes: (bytes: Buffer) => void;

  constructor(fd: number, onBytes: (bytes: Buffer) => void) {
    this.#fd = fd;
    this.#onBytes = onBytes;
    const callback = (length: number) => {
      this.#onBytes(this.#buffer.subarray(0, length));
      return true;
    };
    const options = { fd, readable: true, writable: false, onread: { buffer: this.#buffer, callback } };
    this.#socket = new Socket(options);
    this.#socket.on('error', () => {});
    this.#socket.unref();
  }

  /** Hands over at once what is in the pipe now: everything that was written before the call. */
  drain(): void {
    let length = 0;
    // A destroyed socket has given its descriptor back; the number may be somebody else's.
    for (let total = 0; total < MAX_PIPE_BYTES && !this.#socket.destroyed; total += length) {
      length = this.#read();
      if (length === 0) return;
      this.#onBytes(this.#buffer.subarray(0, length));
    }
  }

  /** Gives everything that arrives from now on to the heir, or to nobody. */
  redirectTo(sink: OutputSink | undefined): void {
    this.#onBytes = (bytes) => sink?.append(bytes);
    if (this.#socket.closed) sink?.close();
    else this.#socket.once('close', () => sink?.close());
  }

  #read(): number {
    try {
      return readSync(this.#fd, this.#buffer);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
      throw error;
    }
  }
}
