import type { AgentEvent } from '../protocol/generated/vocabulary.ts';
import { RecentIds } from './recent-ids.ts';

// A program may repeat an answer that is refused.
const MAX_REFUSALS = 3;

/** Remembers which dialogs were answered: a server may send them again. */
export class AnsweredDialogs {
  readonly #ids = new RecentIds();
  /** Whether the server has just refused an answer: it sends the question again. */
  #hasRefused = false;
  #lastRefused = { id: '', times: 0 };

  add(id: string): void {
    this.#ids.add(id);
  }

  /** Whether an event repeats a dialog whose answer is on its way, as after a reconnect. Gets every event. */
  isRepeated(event: AgentEvent): boolean {
    if (event.type === 'server_connected') this.#hasRefused = false;
    if (event.type === 'server_error') this.#hasRefused = event.code === 'permission_denied';
    if (event.type !== 'extension_ui_request' || !this.#ids.has(event.id)) return false;
    return !this.#mayAnswerAgain(event.id);
  }

  #mayAnswerAgain(id: string): boolean {
    if (!this.#hasRefused) return false;
    this.#hasRefused = false;
    this.#lastRefused = { id, times: this.#lastRefused.id === id ? this.#lastRefused.times + 1 : 1 };
    return this.#lastRefused.times <= MAX_REFUSALS;
  }
}
