import type { Limits, Usage } from '../../protocol/generated/vocabulary.ts';

/** Usage of a run against its limits. */
export class Budget {
  readonly #startedAt = performance.now();
  #limits: readonly Limits[] = [];
  #turns = 0;
  #tokens = 0;
  #cost = 0;

  /** Adds limits. Limits of a message that joins the run count from the start of the run. */
  addLimits(limits: Limits | undefined): void {
    if (limits) this.#limits = [...this.#limits, limits];
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
      if (wallMs !== undefined && performance.now() - this.#startedAt >= wallMs)
        return `The run has used up its time (${wallMs} ms)`;
    }
    return undefined;
  }
}
