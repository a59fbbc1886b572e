/** A record that was kept, under its number. */
export interface JournalRecord {
  readonly seq: number;
  /** One line of JSON without `seq` and without its end. */
  readonly text: string;
}

/** Somebody else owns the session by now: nothing more may be kept in its name. */
export class NotOwner extends Error {
  override readonly name = 'NotOwner';

  constructor() {
    super('The session is owned elsewhere');
  }
}

/** Numbers what happens in a session and keeps the latest of it, for whoever has missed some. */
export interface Journal {
  /** What the numbers count in. Never the same for two journals. */
  readonly epoch: string;
  /** The oldest number that can still be read. One more than `last` when there is none. */
  readonly first: number;
  /** The number given last; 0 before the first. */
  readonly last: number;
  /** Keeps these, in order; answers the number of the first. Fails with `NotOwner`, and then nothing is kept. */
  append(texts: readonly string[]): Promise<number>;
  /** Everything after this number; undefined when some of it is gone, or was never there. */
  read(after: number): Promise<readonly JournalRecord[] | undefined>;
}
