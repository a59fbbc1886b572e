// A journaled event with its sequence number.
export interface JournalRecord {
  readonly seq: number;
  // JSON without `seq` and without the line end.
  readonly text: string;
}

// Another process owns the session now; nothing more may be appended.
export class NotOwner extends Error {
  override readonly name = 'NotOwner';

  constructor() {
    super('The session is owned elsewhere');
  }
}

/** Numbers the events of a session and keeps the latest ones for clients that resume. */
export interface Journal {
  /** Identifies the sequence; unique to each journal. */
  readonly epoch: string;
  /** The oldest sequence number that can still be read; `last + 1` if there is none. */
  readonly first: number;
  /** The latest sequence number; 0 before the first. */
  readonly last: number;
  /**
   * Appends texts in order; returns the number of the first. Rejects with `NotOwner` and appends nothing if ownership
   * is lost.
   */
  append(texts: readonly string[]): Promise<number>;
  /** All records after this number; undefined if some of them were dropped or never existed. */
  read(after: number): Promise<readonly JournalRecord[] | undefined>;
}
