import { absenceOf } from '../../protocol/dialog-methods.ts';
import type { ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import { clampTimeout } from '../../system/with-timeout.ts';
import type { Subscriber } from '../sessions.ts';
import { receivesRequest } from './subscribers.ts';

/** Cancels dialogs that no client could show for too long. */
export class DialogTimeouts {
  readonly #onTimeout: (id: string) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(onTimeout: (id: string) => void) {
    this.#onTimeout = onTimeout;
  }

  /** Starts and stops timeouts after a change of dialogs or clients. */
  update(dialogs: ReadonlyMap<string, ExtensionUiRequestEvent>, attached: ReadonlySet<Subscriber>): void {
    for (const [id, timer] of this.#timers) if (!dialogs.has(id)) this.#clear(id, timer);
    for (const [id, request] of dialogs) {
      const timer = this.#timers.get(id);
      if ([...attached].some((subscriber) => receivesRequest(subscriber, request))) this.#clear(id, timer);
      else if (!timer)
        this.#timers.set(id, setTimeout(() => this.#onTimeout(id), clampTimeout(absenceOf(request))).unref());
    }
  }

  close(): void {
    for (const [id, timer] of this.#timers) this.#clear(id, timer);
  }

  #clear(id: string, timer: NodeJS.Timeout | undefined): void {
    clearTimeout(timer);
    this.#timers.delete(id);
  }
}
