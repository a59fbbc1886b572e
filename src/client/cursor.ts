import type { AgentEvent } from '../protocol/generated/vocabulary.ts';

interface Place {
  readonly epoch: string;
  readonly after: number;
}

/** Up to where a session was heard: what a server needs to know to go on from there. */
export class Cursor {
  #epoch: string | undefined;
  #seq = 0;
  #isWhole = false;
  /** Where it was before the snapshot that is not whole yet. */
  #before: Place | undefined;

  /** A snapshot follows. Until all of it is there, it is not gone on from, but from where it was before. */
  begin(epoch: string, seq: number): void {
    this.#before = this.place;
    this.#epoch = epoch;
    this.#seq = seq;
    this.#isWhole = false;
  }

  /** Everything up to here was heard, also what has no number. */
  complete(): void {
    this.#isWhole = true;
    this.#before = undefined;
  }

  forget(): void {
    this.#epoch = undefined;
    this.#isWhole = false;
    this.#before = undefined;
  }

  /** Whether the event is new. What has no number always is. */
  take({ seq }: AgentEvent): boolean {
    if (typeof seq !== 'number') return true;
    if (seq <= this.#seq) return false;
    this.#seq = seq;
    // The first number comes behind what a snapshot has without.
    this.complete();
    return true;
  }

  /** Undefined while there is nothing to go on from. */
  get place(): Place | undefined {
    return this.#epoch !== undefined && this.#isWhole ? { epoch: this.#epoch, after: this.#seq } : this.#before;
  }
}
