import { readSync } from 'node:fs';
import { Socket } from 'node:net';

const CHUNK_BYTES = 64 * 1024;

// The capacity of a pipe, unless a privileged writer raised it.
const MAX_PIPE_BYTES = 1024 * 1024;

export interface OutputSink {
  append(bytes: Buffer): void;
  close(): void;
}

/**
 * Reads a pipe until its last writer has closed it, so that no writer blocks for long or gets SIGPIPE.
 *
 * The bytes are valid during the callback only. Does not keep this process alive. Owns the descriptor.
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

  /** Reads everything that was written before the call. */
  drain(): void {
    let length = 0;
    // A destroyed socket has closed its descriptor; the number may be reused.
    for (let total = 0; total < MAX_PIPE_BYTES && !this.#socket.destroyed; total += length) {
      length = this.#read();
      if (length === 0) return;
      this.#onBytes(this.#buffer.subarray(0, length));
    }
  }

  /** Sends all further bytes to the sink; without one they are dropped. */
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
