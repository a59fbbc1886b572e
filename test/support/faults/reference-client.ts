import { onTestFinished } from 'vitest';
import { connectRemote } from '../../../src/client/remote/connect-remote.node.ts';
import type { RemoteOptions, RemoteSession } from '../../../src/client/remote/remote-session.ts';
import { type ConversationView, emptyView, reduce } from '../../../src/client/view/view.ts';
import type { AgentEvent, AgentSettledEvent } from '../../../src/protocol/generated/vocabulary.ts';
import { withTimeout } from '../../../src/system/with-timeout.ts';
import type { ClientReport } from './client-process.ts';
import { roundTrips } from './round-trips.ts';

const WAIT_TIMEOUT_MS = 60_000;

const AUDITED: ReadonlySet<string> = new Set(['server_connected', 'message_end', 'agent_settled', 'entry_appended']);

/** A client with an undisturbed connection, whose view the other clients must reach. */
export class ReferenceClient implements Omit<ClientReport, 'runs'> {
  readonly session: RemoteSession;
  readonly settled: AgentSettledEvent[] = [];
  readonly greetings: string[] = [];
  /** The events that claim that something is stored, and the sessions that they belong to. */
  readonly audited: AgentEvent[] = [];
  view: ConversationView = emptyView;
  eventCount = 0;
  readonly #waiting = new Set<() => void>();

  constructor(address: string, options: RemoteOptions) {
    this.session = connectRemote(address, options);
    onTestFinished(() => this.session.close());
    this.session.onEvent((event) => {
      this.view = reduce(this.view, event);
      this.eventCount++;
      if (AUDITED.has(event.type)) this.audited.push(event);
      if (event.type === 'agent_settled') this.settled.push(event);
      if (event.type === 'server_connected') this.greetings.push(event.resume ?? 'new');
      for (const wake of this.#waiting) wake();
    });
  }

  isSettled(runId: string): boolean {
    return this.settled.some((event) => event.runId === runId);
  }

  /** Settles when the condition holds; checks it after every event. */
  waitUntil(description: string, condition: () => boolean): Promise<void> {
    const poll = async () => {
      while (!condition()) await this.#nextEvent();
    };
    return withTimeout(WAIT_TIMEOUT_MS, poll(), `Never: ${description}`);
  }

  /** Waits for this many events or round trips, whichever comes first. */
  async waitBriefly(events: number, trips: number): Promise<void> {
    const last = this.eventCount + events;
    let isOver = false;
    const over = roundTrips(trips).then(() => {
      isOver = true;
    });
    while (this.eventCount < last && !isOver) await Promise.race([this.#nextEvent(), over]);
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
    });
  }
}
