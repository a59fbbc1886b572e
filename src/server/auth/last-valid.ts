import { statSync } from 'node:fs';
import { messageOf } from '../../protocol/errors.ts';
import type { Log } from '../../system/log.ts';

interface FileSource<T> {
  readonly path: string | undefined;
  readonly read: () => readonly T[];
  readonly log: Log | undefined;
}

/** The last valid content of a file. A refresh that fails keeps the previous value and logs the problem. */
export class LastValid<T> {
  value: readonly T[] = [];
  readonly #path: string | undefined;
  readonly #read: () => readonly T[];
  readonly #log: Log | undefined;
  #version = '';

  constructor({ path, read, log }: FileSource<T>) {
    this.#path = path;
    this.#read = read;
    this.#log = log;
  }

  /** Reads the file if it differs from the one that was read last; returns whether it did. */
  refreshIfChanged(): boolean {
    const hasChanged = this.#path !== undefined && versionOf(this.#path) !== this.#version;
    if (hasChanged) this.refresh();
    return hasChanged;
  }

  refresh(): void {
    // Before reading: a change in between is noticed the next time.
    this.#version = this.#path === undefined ? '' : versionOf(this.#path);
    try {
      this.value = this.#read();
    } catch (error) {
      this.#log?.write('warn', 'auth', messageOf(error));
    }
  }
}

/** Identifies the content of a file without reading it; a file that cannot be reached has the version of its error. */
function versionOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : '';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreachable';
  }
}
