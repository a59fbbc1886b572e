import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';

interface Position {
  readonly epoch: string;
  readonly after: number;
}

/** The position up to which a session was received: the server resumes from it after a reconnect. */
export class ResumeCursor {
  #epoch: string | undefined;
  #seq = 0;
  #isComplete = false;
  /** The position before an incomplete snapshot. */
  #previous: Position | undefined;

  /** Starts a snapshot. Until `completeSnapshot()`, a reconnect resumes from the previous position. */
  beginSnapshot(epoch: string, seq: number): void {
    this.#previous = this.position;
    this.#epoch = epoch;
    this.#seq = seq;
    this.#isComplete = false;
  }

  /** Everything up to here has arrived, including records without a number. */
  completeSnapshot(): void {
    this.#isComplete = true;
    this.#previous = undefined;
  }

  reset(): void {
    this.#epoch = undefined;
    this.#isComplete = false;
    this.#previous = undefined;
  }

  /** Moves to the event; returns false for a repeated one. Events without a number are always new. */
  advance({ seq }: AgentEvent): boolean {
    if (typeof seq !== 'number') return true;
    if (seq <= this.#seq) return false;
    this.#seq = seq;
    // Numbered events follow the unnumbered records of a snapshot.
    this.completeSnapshot();
    return true;
  }

  /** Undefined while there is nothing to resume from. */
  get position(): Position | undefined {
    return this.#epoch !== undefined && this.#isComplete ? { epoch: this.#epoch, after: this.#seq } : this.#previous;
  }
}
