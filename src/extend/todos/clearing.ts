import { isFinished, type Plan, tasksOf } from './plan.ts';

/** Tells which tasks have been finished for some time; those that are no longer finished by then are not told. */
export class Clearing {
  readonly #onDue: (ids: ReadonlySet<string>) => void;
  /** Tasks that were found finished together have one timer together. */
  readonly #waiting = new Map<string, NodeJS.Timeout>();

  constructor(onDue: (ids: ReadonlySet<string>) => void) {
    this.#onDue = onDue;
  }

  /** Looks at the plan as it is now. `delay`: in seconds; less than none: nothing that is new here will be told. */
  watch(plan: Plan, delay: number): void {
    const finished = new Set(
      tasksOf(plan)
        .filter(isFinished)
        .map(({ id }) => id),
    );
    for (const id of [...this.#waiting.keys()]) if (!finished.has(id)) this.#waiting.delete(id);
    const fresh = [...finished].filter((id) => !this.#waiting.has(id));
    if (fresh.length === 0 || delay < 0) return;
    const timer = setTimeout(() => this.#tell(timer), delay * 1000).unref();
    for (const id of fresh) this.#waiting.set(id, timer);
  }

  /** Forgets all of it. */
  stop(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  #tell(timer: NodeJS.Timeout): void {
    const due = [...this.#waiting].filter(([, other]) => other === timer).map(([id]) => id);
    for (const id of due) this.#waiting.delete(id);
    if (due.length > 0) this.#onDue(new Set(due));
  }
}
