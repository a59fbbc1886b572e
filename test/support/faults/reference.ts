import { onTestFinished } from 'vitest';
import { connectRemote } from '../../../src/client/remote.node.ts';
import type { RemoteOptions, RemoteSession } from '../../../src/client/remote-session.ts';
import { emptyView, reduce, type View } from '../../../src/client/view.ts';
import type { AgentSettledEvent } from '../../../src/protocol/generated/vocabulary.ts';
import type { Sight } from './client.ts';

/** How long something may take before it will never be. */
const PATIENCE_MS = 60_000;

/** A client whose connection nobody touches: what it sees is what there is to see. */
export class Reference implements Omit<Sight, 'runs'> {
  readonly session: RemoteSession;
  readonly settled: AgentSettledEvent[] = [];
  readonly greetings: string[] = [];
  view: View = emptyView;
  /** How much it has heard. */
  heard = 0;
  readonly #wake = new Set<() => void>();

  constructor(address: string, options: RemoteOptions) {
    this.session = connectRemote(address, options);
    onTestFinished(() => this.session.close());
    this.session.onEvent((event) => {
      this.view = reduce(this.view, event);
      this.heard++;
      if (event.type === 'agent_settled') this.settled.push(event);
      if (event.type === 'server_connected') this.greetings.push(event.resume ?? 'new');
      for (const wake of this.#wake) wake();
    });
  }

  isSettled(runId: string): boolean {
    return this.settled.some((event) => event.runId === runId);
  }

  /** Settles when this is true, which is looked at whenever something is heard. */
  async until(what: string, condition: () => boolean): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!condition()) {
      if (Date.now() > deadline) throw new Error(`Never: ${what}`);
      await this.#news(deadline - Date.now());
    }
  }

  /** Settles when so much more was heard, or after a while. */
  async moment(events: number, ms: number): Promise<void> {
    const [last, deadline] = [this.heard + events, Date.now() + ms];
    while (this.heard < last && Date.now() < deadline) await this.#news(deadline - Date.now());
  }

  async #news(limitMs: number): Promise<void> {
    let wake = () => {};
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      this.#wake.add(resolve);
      timer = setTimeout(resolve, Math.max(0, limitMs));
    });
    clearTimeout(timer);
    this.#wake.delete(wake);
  }
}
