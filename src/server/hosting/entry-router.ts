import type { EntryAppendedEvent } from '../../protocol/generated/vocabulary.ts';
import type { Subscriber } from '../sessions.ts';

/** For whom an entry is that the agent tells of. */
export type EntryRecipient = Subscriber | 'all';

/**
 * Tells entries that are new from those that the agent tells again because somebody has come who wants them all. It tells
 * them again between its answers to two requests; of those the last may be new.
 */
export class EntryRouter {
  /** Who is being told everything. */
  #reader: Subscriber | undefined;
  /** The last that everybody has heard of; undefined before the first. */
  #lastPublished: string | undefined;
  /** The last that the reader was told. */
  #lastReplayed: string | undefined;
  /** Whether the reader has been told of `#last`: what follows is new to everybody. */
  #hasCaughtUp = false;

  startReplay(reader: Subscriber): void {
    this.#reader = reader;
    this.#hasCaughtUp = false;
  }

  endReplay(): void {
    this.#reader = undefined;
    this.#lastPublished = this.#lastReplayed ?? this.#lastPublished;
  }

  /** The agent was started again, or is in another session. */
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
