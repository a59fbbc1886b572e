import { onTestFinished } from 'vitest';
import { connectRemote } from '../../../src/client/remote/connect-remote.node.ts';
import type { RemoteOptions, RemoteSession } from '../../../src/client/remote/remote-session.ts';
import { type ConversationView, emptyView, reduce } from '../../../src/client/view/view.ts';
import type { AgentSettledEvent } from '../../../src/protocol/generated/vocabulary.ts';
import { withTimeout } from '../../../src/system/with-timeout.ts';
import type { Sight } from './client.ts';
import { exchange } from './exchange.ts';

/** How long something may take before it will never be. */
const PATIENCE_MS = 60_000;

/** A client whose connection nobody touches: what it sees is what there is to see. */
export class Reference implements Omit<Sight, 'runs'> {
  readonly session: RemoteSession;
  readonly settled: AgentSettledEvent[] = [];
  readonly greetings: string[] = [];
  view: ConversationView = emptyView;
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
  until(what: string, condition: () => boolean): Promise<void> {
    const heard = async () => {
      while (!condition()) await this.#news();
    };
    return withTimeout(PATIENCE_MS, heard(), `Never: ${what}`);
  }

  /** Settles when so much more was heard, or so many words have gone to and fro elsewhere. */
  async moment(events: number, words: number): Promise<void> {
    const last = this.heard + events;
    let isOver = false;
    const over = exchange(words).then(() => {
      isOver = true;
    });
    while (this.heard < last && !isOver) await Promise.race([this.#news(), over]);
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wake.delete(wake);
        resolve();
      };
      this.#wake.add(wake);
    });
  }
}
