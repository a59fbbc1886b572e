import type { AgentEndEvent, AgentEvent, AgentSettledEvent, Result } from '../protocol/generated/vocabulary.ts';
import type { ConnectionLost } from './errors.ts';
import type { EventConsumer } from './event-iterator.ts';

/** The result of `promptAndWait`: the acceptance, the events and the end of a run. */
export interface PromptRun {
  readonly accepted: Result<'prompt'>;
  /** Undefined when there was no run to wait for; `accepted` explains why. */
  readonly settled: AgentSettledEvent | undefined;
  /** Set when the run ended while disconnected and its events are lost; the conversation has its messages. */
  readonly missed?: true;
  /** The messages that the run added. */
  readonly messages: AgentEndEvent['messages'];
  /** The events of the run; a very long run has no updates, whose content its end events repeat. */
  readonly events: readonly AgentEvent[];
}

/** Above this length of events, updates are dropped; the rest is as long as the messages of the run. */
export const MAX_CHARS_WITH_UPDATES = 64 * 1024 * 1024;

/** Collects events until the run of a prompt has ended. */
export class RunCollector implements EventConsumer {
  #events: AgentEvent[] = [];
  #length = 0;
  #runId: string | undefined;
  /** The last snapshot does not contain the run. */
  #isAbsentFromSnapshot = false;
  #isMissed = false;
  #lost: ConnectionLost | undefined;
  #wake: () => void = () => {};

  push(event: AgentEvent, length: number): void {
    if (event.type === 'state_synced') {
      this.#isAbsentFromSnapshot = this.#runId !== undefined && event.state.runId !== this.#runId;
      return;
    }
    const isLong = this.#length > MAX_CHARS_WITH_UPDATES;
    if (isLong && isUpdate(event)) return;
    this.#events.push(event);
    this.#length += length;
    if (!isLong && this.#length > MAX_CHARS_WITH_UPDATES) this.#events = this.#events.filter((kept) => !isUpdate(kept));
    if (event.type === 'agent_settled') this.#wake();
  }

  onSnapshotEnd(): void {
    this.#isMissed = this.#isAbsentFromSnapshot;
    this.#wake();
  }

  end(reason: ConnectionLost): void {
    this.#lost = reason;
    this.#wake();
  }

  /** Resolves when the run has ended, or at once when there is none. */
  async waitForEnd(accepted: Result<'prompt'>): Promise<PromptRun> {
    if (accepted.runId === undefined) return { accepted, settled: undefined, messages: [], events: [] };
    this.#runId = accepted.runId;
    while (true) {
      const run = this.#find(accepted.runId);
      if (run) return { accepted, ...run };
      if (this.#isMissed) return { accepted, settled: undefined, missed: true, messages: [], events: this.#events };
      if (this.#lost) throw this.#lost;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The run with this id, if it has ended, without events of earlier runs. */
  #find(runId: string): Omit<PromptRun, 'accepted'> | undefined {
    let first = 0;
    for (const [index, event] of this.#events.entries()) {
      if (event.type !== 'agent_settled') continue;
      const events = this.#events.slice(first, index + 1);
      if (event.runId === runId) return { settled: event, messages: events.flatMap(messagesOf), events };
      first = index + 1;
    }
    return undefined;
  }
}

const messagesOf = (event: AgentEvent) => (event.type === 'agent_end' ? event.messages : []);

const isUpdate = ({ type }: AgentEvent) => type === 'message_update' || type === 'tool_execution_update';
