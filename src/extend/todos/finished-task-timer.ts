import { isFinished, type TodoPlan, tasksOf } from './plan.ts';

/** Tells which tasks have been finished for some time; those that are no longer finished by then are not told. */
export class FinishedTaskTimer {
  readonly #onDue: (ids: ReadonlySet<string>) => void;
  /** Tasks that were found finished together have one timer together. */
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(onDue: (ids: ReadonlySet<string>) => void) {
    this.#onDue = onDue;
  }

  /** Looks at the plan as it is now. `delay`: in seconds; less than none: nothing that is new here will be told. */
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

  /** Forgets all of it. */
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
