import { messageOf } from '../../protocol/errors.ts';
import type { Log } from '../../system/log.ts';

/** What a file says, read again when it changes. Where it makes no sense, what it said before stays, and the log says so. */
export class LastValid<T> {
  value: T;
  readonly #read: () => T;
  readonly #log: Log | undefined;

  constructor(first: T, read: () => T, log: Log | undefined) {
    this.value = first;
    this.#read = read;
    this.#log = log;
  }

  refresh(): void {
    try {
      this.value = this.#read();
    } catch (error) {
      this.#log?.write('warn', 'auth', messageOf(error));
    }
  }
}
