import type { EntryAppendedEvent } from '../../protocol/generated/vocabulary.ts';
import type { Listener } from '../sessions.ts';

/** For whom an entry is that the agent tells of. */
export type Recipient = Listener | 'everybody';

/**
 * Tells entries that are new from those that the agent tells again because somebody has come who wants them all. It tells
 * them again between its answers to two requests; of those the last may be new.
 */
export class EntryFeed {
  /** Who is being told everything. */
  #reader: Listener | undefined;
  /** The last that everybody has heard of; undefined before the first. */
  #last: string | undefined;
  /** The last that the reader was told. */
  #read: string | undefined;
  /** Whether the reader has been told of `#last`: what follows is new to everybody. */
  #isPast = false;

  begin(reader: Listener): void {
    this.#reader = reader;
    this.#isPast = false;
  }

  end(): void {
    this.#reader = undefined;
    this.#last = this.#read ?? this.#last;
  }

  /** The agent was started again, or is in another session. */
  reset(): void {
    this.#reader = undefined;
    this.#last = undefined;
    this.#read = undefined;
  }

  recipientOf({ entry: { id } }: EntryAppendedEvent): Recipient {
    if (!this.#reader) {
      this.#last = id;
      return 'everybody';
    }
    const isNew = this.#isPast;
    this.#read = id;
    if (id === this.#last) this.#isPast = true;
    return isNew ? 'everybody' : this.#reader;
  }
}
