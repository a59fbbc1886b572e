import { toLine } from '../../wire/json-lines.ts';
import type { Listener, Request } from '../sessions.ts';
import { Answer } from './answer.ts';

/** Requests that an agent may have open at the same time, from all clients together. */
export const MAX_OPEN = 2000;

interface Open {
  readonly type: Request['type'];
  readonly answered: (answer: Answer) => void;
  /** Called when the answer comes in, ahead of its turn. */
  readonly arrived: (() => void) | undefined;
  /** Who asked, if it was a client. */
  readonly asker: Listener | undefined;
  /** What the asker called it. */
  readonly name: unknown;
}

/** Requests on their way to an agent: each goes under a number of its own, so that those of different clients do not mix. */
export class Calls {
  readonly #open = new Map<string, Open>();
  #count = 0;

  get size(): number {
    return this.#open.size;
  }

  /** Whether one of them is a client's. */
  get isAsked(): boolean {
    return [...this.#open.values()].some(({ asker }) => asker !== undefined);
  }

  /** The line that asks the agent. */
  begin(
    { type, id: name, ...params }: Request,
    { asker, arrived, answered }: Partial<Pick<Open, 'asker' | 'arrived'>> & Pick<Open, 'answered'>,
  ): string {
    const id = String(++this.#count);
    this.#open.set(id, { type, answered, arrived, asker, name });
    return toLine({ ...params, id, type });
  }

  /** Whose answer this is. It can be called once. */
  take(id: string): Open | undefined {
    const open = this.#open.get(id);
    this.#open.delete(id);
    return open;
  }

  /** A request that is not answered yet. */
  find(id: unknown): Open | undefined {
    return this.#open.get(String(id));
  }

  /** The agent is gone: nothing will be answered any more. */
  fail(reason: string): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { type, answered } of open) answered(Answer.refusal(type, { code: 'internal', message: reason }));
  }
}
