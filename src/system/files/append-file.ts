import { closeSync, constants, fdatasync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

const { O_APPEND, O_CREAT, O_RDONLY, O_RDWR } = constants;
const WRITE_RETRY_MS = 1;
const MAX_WRITE_RETRIES = 1000;

/**
 * A file that grows only by whole appends at its end.
 *
 * After `append` the bytes are in the kernel and survive this process; after `sync` they survive the machine.
 * The file must have no other writer.
 */
export class AppendFile {
  readonly path: string;
  readonly #fd: number;
  #size: number;
  #torn = false;
  #closed = false;
  #syncing: Promise<void> | undefined;
  #nextSync: Promise<void> | undefined;

  private constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
    this.#size = fstatSync(fd).size;
  }

  static open(path: string, options: { readonly create: boolean; readonly mode?: number }): AppendFile {
    return new AppendFile(
      path,
      openSync(path, O_RDWR | O_APPEND | (options.create ? O_CREAT : 0), options.mode ?? 0o666),
    );
  }

  /** Opens a file to read it; every append fails. */
  static openForReading(path: string): AppendFile {
    return new AppendFile(path, openSync(path, O_RDONLY));
  }

  get size(): number {
    return this.#size;
  }

  /** Returns when every byte is in the kernel; otherwise throws and leaves the file as it was. */
  append(text: string): void {
    this.#assertOpen();
    if (this.#torn) this.truncate(this.#size);
    const bytes = Buffer.from(text);
    try {
      writeAll(this.#fd, bytes);
    } catch (error) {
      this.#truncateBack();
      throw error;
    }
    this.#size += bytes.length;
  }

  /** Settles when everything appended before the call is on the device. Concurrent calls share one sync. */
  sync(): Promise<void> {
    if (this.#closed) return Promise.reject(new Error(`${this.path} is closed`));
    if (this.#syncing === undefined) return this.#nextSync ?? this.#startSync();
    this.#nextSync ??= this.#syncing
      .catch(() => undefined)
      .then(() => {
        this.#nextSync = undefined;
        return this.#startSync();
      });
    return this.#nextSync;
  }

  /** Returns the bytes at `position`; fewer than `length` at the end of the file. */
  read(position: number, length: number): Buffer {
    this.#assertOpen();
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const count = readSync(this.#fd, buffer, filled, length - filled, position + filled);
      if (count === 0) break;
      filled += count;
    }
    return buffer.subarray(0, filled);
  }

  truncate(size: number): void {
    this.#assertOpen();
    ftruncateSync(this.#fd, size);
    this.#size = size;
    this.#torn = false;
  }

  /** Closes the descriptor after running syncs: closed earlier, its number could belong to another file by then. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#closeAfterSyncs();
  }

  #closeAfterSyncs(): void {
    const pending = this.#nextSync ?? this.#syncing;
    if (pending === undefined) closeSync(this.#fd);
    else void pending.catch(() => undefined).then(() => this.#closeAfterSyncs());
  }

  #startSync(): Promise<void> {
    if (fstatSync(this.#fd).nlink === 0) return Promise.reject(new Error(`${this.path} was removed`));
    this.#syncing = new Promise<void>((resolve, reject) => {
      fdatasync(this.#fd, (error) => {
        this.#syncing = undefined;
        if (error) reject(error);
        else resolve();
      });
    });
    return this.#syncing;
  }

  /** A failed truncation is repeated before the next append, so that no line follows half a line. */
  #truncateBack(): void {
    try {
      ftruncateSync(this.#fd, this.#size);
    } catch {
      this.#torn = true;
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw new Error(`${this.path} is closed`);
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  let retries = 0;
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if ((code !== 'EAGAIN' && code !== 'EINTR') || ++retries > MAX_WRITE_RETRIES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WRITE_RETRY_MS);
    }
  }
}
