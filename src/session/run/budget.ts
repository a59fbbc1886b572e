import type { Limits, Usage } from '../../protocol/generated/vocabulary.ts';

// Node fires a timer with a longer delay at once.
const MAX_DEADLINE_MS = 2 ** 31 - 1;

const timeUp = (wallMs: number) => `The run has used up its time (${wallMs} ms)`;

/** Usage of a run against its limits. */
export class Budget {
  readonly #startedAt = performance.now();
  #limits: readonly Limits[] = [];
  #turns = 0;
  #tokens = 0;
  #cost = 0;
  readonly #onTimeUp: (reason: string) => void;
  readonly #timers: NodeJS.Timeout[] = [];

  /** `onTimeUp` is called when a time limit ends, until `close`. */
  constructor(onTimeUp: (reason: string) => void = () => {}) {
    this.#onTimeUp = onTimeUp;
  }

  /** Adds limits. Limits of a message that joins the run count from the start of the run. */
  addLimits(limits: Limits | undefined): void {
    if (!limits) return;
    this.#limits = [...this.#limits, limits];
    const { wallMs } = limits;
    if (wallMs === undefined) return;
    const remaining = Math.max(0, this.#startedAt + wallMs - performance.now());
    if (remaining > MAX_DEADLINE_MS) return;
    this.#timers.push(setTimeout(() => this.#onTimeUp(timeUp(wallMs)), remaining).unref());
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  addTurn(usage: Usage): void {
    this.#turns++;
    this.addUsage(usage);
  }

  /** Adds usage that is not a turn, such as a compaction. */
  addUsage({ totalTokens, input, output, cacheRead, cacheWrite, cost }: Usage): void {
    this.#tokens += totalTokens || input + output + cacheRead + cacheWrite;
    this.#cost += cost.total;
  }

  /** The error message that forbids another model call; undefined while every limit allows one. */
  get exhaustedReason(): string | undefined {
    for (const { turns, tokens, cost, wallMs } of this.#limits) {
      if (turns !== undefined && this.#turns >= turns) return `The run has used up its model calls (${turns})`;
      if (tokens !== undefined && this.#tokens >= tokens) return `The run has used up its tokens (${tokens})`;
      if (cost !== undefined && this.#cost >= cost) return `The run has used up its money ($${cost})`;
      if (wallMs !== undefined && performance.now() - this.#startedAt >= wallMs) return timeUp(wallMs);
    }
    return undefined;
  }
}
