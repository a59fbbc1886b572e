import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { guardFile, keepFile } from '../../../system/processes/guardian.ts';
import { randomBytes } from '../../../system/random-bytes.ts';

// Limit of a log on disk.
const MAX_LOG_BYTES = 256 * 1024 * 1024;

/** Where logs lie, and the name of that folder for commands and tools of the model: a sandbox has a `/tmp` of its own. */
export interface LogFolder {
  readonly path: string;
  readonly shownPath: string;
}

interface LogOptions {
  readonly limit?: number | undefined;
  /** By default the temporary folder. Its owner removes what a crash leaves in it. */
  readonly folder?: LogFolder | undefined;
}

/**
 * The whole of a truncated output in a file that persists. Never throws: a full disk costs the log, not the command.
 */
export class OutputLog {
  readonly #path: string;
  readonly #shownFolder: string | undefined;
  readonly #limit: number;
  #fd: number | undefined;
  #size = 0;
  #overflowed = false;
  #writeError: string | undefined;

  private constructor({ limit = MAX_LOG_BYTES, folder }: LogOptions) {
    this.#path = join(folder?.path ?? tmpdir(), `pi-bash-${randomBytes(8).toString('hex')}.log`);
    this.#shownFolder = folder?.shownPath;
    this.#limit = limit;
  }

  static create(options: LogOptions = {}): OutputLog {
    const log = new OutputLog(options);
    // The guardian knows the temporary folder only.
    if (!options.folder) guardFile(basename(log.#path));
    try {
      log.#fd = openSync(log.#path, 'ax', 0o600);
    } catch (error) {
      log.#writeError = (error as Error).message;
    }
    return log;
  }

  /** Undefined after a write error. */
  get path(): string | undefined {
    return this.#writeError === undefined ? this.#path : undefined;
  }

  /** The path for commands and tools of the model; undefined after a write error. */
  get shownPath(): string | undefined {
    const { path } = this;
    return path === undefined || this.#shownFolder === undefined ? path : join(this.#shownFolder, basename(path));
  }

  get writeError(): string | undefined {
    return this.#writeError;
  }

  /** Number of logged bytes, if the limit truncated the log. */
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

  /** Keeps the file even if the agent crashes, because its path is now published. */
  keep(): void {
    keepFile(basename(this.#path));
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) ignoreErrors(() => closeSync(fd));
  }

  /** Removes the log after a write error: a partial log would only fill the disk. */
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
    // A write error was reported already.
  }
}
