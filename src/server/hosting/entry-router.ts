import type { EntryAppendedEvent } from '../../protocol/generated/vocabulary.ts';
import type { Subscriber } from '../sessions.ts';

/** The recipient of an entry. */
export type EntryRecipient = Subscriber | 'all';

/**
 * Separates new entries from replayed ones.
 *
 * The agent replays all entries between its responses to two requests, for a client that starts to follow them; entries
 * after the last published one are new to all clients.
 */
export class EntryRouter {
  #reader: Subscriber | undefined;
  /** The last entry sent to all clients. */
  #lastPublished: string | undefined;
  #lastReplayed: string | undefined;
  /** Whether the replay has passed `#lastPublished`. */
  #hasCaughtUp = false;

  startReplay(reader: Subscriber): void {
    this.#reader = reader;
    this.#hasCaughtUp = false;
  }

  endReplay(): void {
    this.#reader = undefined;
    this.#lastPublished = this.#lastReplayed ?? this.#lastPublished;
  }

  /** Called after a restart of the agent or a session change. */
  reset(): void {
    this.#reader = undefined;
    this.#lastPublished = undefined;
    this.#lastReplayed = undefined;
  }

  recipientOf({ entry: { id } }: EntryAppendedEvent): EntryRecipient {
    if (!this.#reader) {
      this.#lastPublished = id;
      return 'all';
    }
    const isNew = this.#hasCaughtUp;
    this.#lastReplayed = id;
    if (id === this.#lastPublished) this.#hasCaughtUp = true;
    return isNew ? 'all' : this.#reader;
  }
}
