import { type ConnectionEnd, keepsAddress } from './reconnection.ts';

/** Chooses among the addresses of a server: each is tried once per round. */
export class AddressRotation {
  readonly #count: number;
  #index = 0;
  #failedInRound = 0;
  #roundEnd: ConnectionEnd | undefined;

  constructor(count: number) {
    this.#count = count;
  }

  /** The index of the current address. */
  get index(): number {
    return this.#index;
  }

  /** Begins a round at the current address. */
  beginRound(): void {
    this.#failedInRound = 0;
    this.#roundEnd = undefined;
  }

  /** Moves to the next address after this end, and begins a round there. Returns whether it is another one. */
  moveOn({ code }: ConnectionEnd): boolean {
    this.beginRound();
    if (this.#count === 1 || keepsAddress(code)) return false;
    this.#index = (this.#index + 1) % this.#count;
    return true;
  }

  /** Records a failed attempt. Returns the end of the round, or undefined while it has another address to try. */
  fail(end: ConnectionEnd): ConnectionEnd | undefined {
    const failed = this.#failedInRound + 1;
    const roundEnd = this.#roundEnd ? combined(this.#roundEnd, end) : end;
    const hasMoved = this.moveOn(end);
    if (!hasMoved || failed === this.#count) return roundEnd;
    this.#failedInRound = failed;
    this.#roundEnd = roundEnd;
    return undefined;
  }
}

/** The reason of a server explains more than that of a connection that was never made; the first to return counts. */
function combined(before: ConnectionEnd, last: ConnectionEnd): ConnectionEnd {
  const shown = isExplained(last) || !isExplained(before) ? last : before;
  return { ...shown, retryAfterMs: Math.min(before.retryAfterMs ?? 0, last.retryAfterMs ?? 0) };
}

const isExplained = ({ code }: ConnectionEnd) => code !== undefined && code !== 1005 && code !== 1006;
