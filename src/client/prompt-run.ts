import type { AgentEndEvent, AgentEvent, AgentSettledEvent, Result } from '../protocol/generated/vocabulary.ts';
import type { ConnectionLost } from './connection-lost.ts';
import type { EventConsumer } from './event-consumer.ts';

/** How a prompt went, from the answer to the end of its run. */
export interface PromptRun {
  /** How the agent took the prompt. */
  readonly accepted: Result<'prompt'>;
  /** The end of its run. Undefined when there is none to wait for: `accepted` says whether the run is over, or none was needed. */
  readonly settled: AgentSettledEvent | undefined;
  /** Set when the run ended unheard, while the connection was down for too long: the conversation has what it said. */
  readonly missed?: true;
  /** What the run added to the conversation. */
  readonly messages: AgentEndEvent['messages'];
  /** What was told of it meanwhile. Of a run with much to tell, without the updates: its ends tell the same. */
  readonly events: readonly AgentEvent[];
}

/** Text of events that are kept of a run with its updates. What is left without them is as much as the run has said. */
export const MAX_CHARS_WITH_UPDATES = 64 * 1024 * 1024;

/** Keeps what is told until the run has ended that a prompt opened or joined. */
export class RunCollector implements EventConsumer {
  #events: AgentEvent[] = [];
  #length = 0;
  #runId: string | undefined;
  /** A snapshot has come in which the run is not there any more. */
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

  /** Settles when the run has ended; at once when there is none. */
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

  /** The run with this id, if it has ended. What was told of a run before it is left out. */
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
