import { isFinished, type TodoPlan, tasksOf } from './plan.ts';

/** Reports tasks that have been finished for some time. A reopened task is not reported. */
export class FinishedTaskTimer {
  readonly #onDue: (ids: ReadonlySet<string>) => void;
  /** Tasks that finished together share one timer. */
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(onDue: (ids: ReadonlySet<string>) => void) {
    this.#onDue = onDue;
  }

  /** Starts timers for newly finished tasks. `delay` is in seconds; a negative one starts none. */
  update(plan: TodoPlan, delay: number): void {
    const finished = new Set(
      tasksOf(plan)
        .filter(isFinished)
        .map(({ id }) => id),
    );
    for (const id of [...this.#timers.keys()]) if (!finished.has(id)) this.#timers.delete(id);
    const fresh = [...finished].filter((id) => !this.#timers.has(id));
    if (fresh.length === 0 || delay < 0) return;
    const timer = setTimeout(() => this.#expire(timer), delay * 1000).unref();
    for (const id of fresh) this.#timers.set(id, timer);
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #expire(timer: NodeJS.Timeout): void {
    const due = [...this.#timers].filter(([, other]) => other === timer).map(([id]) => id);
    for (const id of due) this.#timers.delete(id);
    if (due.length > 0) this.#onDue(new Set(due));
  }
}
