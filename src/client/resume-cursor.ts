import type { AgentEvent } from '../protocol/generated/vocabulary.ts';

interface Position {
  readonly epoch: string;
  readonly after: number;
}

/** Up to where a session was heard: what a server needs to know to go on from there. */
export class ResumeCursor {
  #epoch: string | undefined;
  #seq = 0;
  #isComplete = false;
  /** Where it was before the snapshot that is not whole yet. */
  #previous: Position | undefined;

  /** A snapshot follows. Until all of it is there, it is not gone on from, but from where it was before. */
  beginSnapshot(epoch: string, seq: number): void {
    this.#previous = this.position;
    this.#epoch = epoch;
    this.#seq = seq;
    this.#isComplete = false;
  }

  /** Everything up to here was heard, also what has no number. */
  completeSnapshot(): void {
    this.#isComplete = true;
    this.#previous = undefined;
  }

  reset(): void {
    this.#epoch = undefined;
    this.#isComplete = false;
    this.#previous = undefined;
  }

  /** Whether the event is new. What has no number always is. */
  advance({ seq }: AgentEvent): boolean {
    if (typeof seq !== 'number') return true;
    if (seq <= this.#seq) return false;
    this.#seq = seq;
    // The first number comes behind what a snapshot has without.
    this.completeSnapshot();
    return true;
  }

  /** Undefined while there is nothing to go on from. */
  get position(): Position | undefined {
    return this.#epoch !== undefined && this.#isComplete ? { epoch: this.#epoch, after: this.#seq } : this.#previous;
  }
}
