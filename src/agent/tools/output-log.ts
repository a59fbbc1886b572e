import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { guardFile, keepFile } from '../../system/processes/guardian.ts';
import { randomBytes } from '../../system/random-bytes.ts';

/** How much of an output is kept on disk. */
const MAX_LOG_BYTES = 256 * 1024 * 1024;

/**
 * The whole of an output that is too long to be shown, in a file that stays.
 *
 * Never throws: a disk that takes no more costs the log, not the command.
 */
export class OutputLog {
  readonly #path: string;
  readonly #limit: number;
  #fd: number | undefined;
  #size = 0;
  #overflowed = false;
  #writeError: string | undefined;

  private constructor(path: string, limit: number) {
    this.#path = path;
    this.#limit = limit;
  }

  static create(limit = MAX_LOG_BYTES): OutputLog {
    const log = new OutputLog(join(tmpdir(), `pi-bash-${randomBytes(8).toString('hex')}.log`), limit);
    guardFile(basename(log.#path));
    try {
      log.#fd = openSync(log.#path, 'ax', 0o600);
    } catch (error) {
      log.#writeError = (error as Error).message;
    }
    return log;
  }

  /** Where it is, unless it was lost. */
  get path(): string | undefined {
    return this.#writeError === undefined ? this.#path : undefined;
  }

  /** Why it was lost. */
  get writeError(): string | undefined {
    return this.#writeError;
  }

  /** How many bytes it holds when they are only the first. */
  get truncatedAt(): number | undefined {
    return this.#overflowed ? this.#limit : undefined;
  }

  append(bytes: Buffer): void {
    if (this.#fd === undefined) return;
    const part = bytes.subarray(0, this.#limit - this.#size);
    try {
      for (let written = 0; written < part.length; ) written += writeSync(this.#fd, part, written);
    } catch (error) {
      this.#abandon(error as Error);
      return;
    }
    this.#size += part.length;
    if (part.length === bytes.length) return;
    this.#overflowed = true;
    this.close();
  }

  /** Stays from now on, whatever becomes of the agent: somebody is told of it. */
  keep(): void {
    keepFile(basename(this.#path));
  }

  /** Takes no more. */
  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) ignoreErrors(() => closeSync(fd));
  }

  /** Half a log would only fill the disk. */
  #abandon({ message }: Error): void {
    this.#writeError = message;
    this.close();
    ignoreErrors(() => rmSync(this.#path, { force: true }));
    this.keep();
  }
}

function ignoreErrors(work: () => void): void {
  try {
    work();
  } catch {
    // The file system has said before that it will not do.
  }
}
