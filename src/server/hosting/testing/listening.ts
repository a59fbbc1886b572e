import type { AgentEvent } from '../../../protocol/generated/vocabulary.ts';
import type { Greeting, Handle, Listener, Request, Snapshot } from '../../sessions.ts';
import type { SessionRecord } from '../session-record.ts';

type Event = AgentEvent & { readonly seq?: number | undefined };

/** A listener that remembers everything it is told. */
export class Listening implements Listener {
  isCumulative = false;
  canAnswer = true;
  ui: readonly string[] | undefined;
  titles = false;
  entries = false;
  heartbeatMs = 0;
  readonly greetings: Greeting[] = [];
  readonly snapshots: Snapshot[] = [];
  readonly events: Event[] = [];
  readonly told: AgentEvent[] = [];
  readonly losses: string[] = [];
  #wake: (() => void)[] = [];

  connected(greeting: Greeting): void {
    this.greetings.push(greeting);
    this.#notify();
  }

  synced(snapshot: Snapshot): void {
    this.snapshots.push(snapshot);
    this.#notify();
  }

  hear({ event, seq }: SessionRecord): void {
    this.events.push(seq === undefined ? event : { ...event, seq });
    this.#notify();
  }

  tell(event: AgentEvent): void {
    this.told.push(event);
    this.#notify();
  }

  lost(reason: string): void {
    this.losses.push(reason);
    this.#notify();
  }

  /** Where it would go on. */
  get cursor() {
    const { epoch = '', seq = 0 } = this.greetings.at(-1) ?? {};
    return { epoch, after: Math.max(seq, ...this.events.map((event) => event.seq ?? 0)) };
  }

  /** The first event of this type after so many. */
  async heard<T extends AgentEvent['type']>(type: T, from = 0): Promise<Extract<AgentEvent, { type: T }>> {
    while (true) {
      const event = this.events.slice(from).find((one) => one.type === type);
      if (event) return event as Extract<AgentEvent, { type: T }>;
      if (this.losses.length > 0) throw new Error(`Lost before ${type}: ${this.losses[0]}`);
      await this.change();
    }
  }

  change(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** What a session answers to a request. */
export const asked = (handle: Handle, request: Request): Promise<Record<string, unknown>> =>
  new Promise((resolve) => handle.send(request, (answer) => resolve(answer.record())));
