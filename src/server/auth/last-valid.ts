import { messageOf } from '../../protocol/errors.ts';
import type { Log } from '../../system/log.ts';

/** The last valid content of a file. A refresh that fails keeps the previous value and logs the problem. */
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
