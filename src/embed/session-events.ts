import type { Agent } from '../engine/agent.ts';
import { messageOf } from '../protocol/errors.ts';
import type { AgentEvent, AssistantMessage, MessageUpdateEvent } from '../protocol/generated/vocabulary.ts';
import type { SubscriberQueue } from '../wire/broadcast.ts';
import { legacyEvents, defaultDialect, formatUpdate } from '../wire/dialect.ts';

/** What listeners of a session hear: an update holds the whole answer so far. */
export type AgentSessionEvent =
  | Exclude<AgentEvent, MessageUpdateEvent>
  | (MessageUpdateEvent & { message: AssistantMessage });

export type AgentSessionEventListener = (event: AgentSessionEvent) => void;

/** Tells listeners in this process what happens, at once. What they throw is nobody else's trouble. */
export class SessionEvents implements SubscriberQueue {
  readonly isFull = false;
  /** The answer that streams. */
  answer: AssistantMessage | undefined;
  /** The tool calls that are under way. */
  readonly calls = new Set<string>();
  readonly #agent: Agent;
  #listeners: readonly { readonly hear: (event: AgentSessionEvent) => void }[] = [];
  #told: Promise<void> = Promise.resolve();

  constructor(agent: Agent) {
    this.#agent = agent;
    agent.broadcast.add({ eventQueue: this, entries: true });
  }

  /** Settles when everything that has happened was heard. */
  get told(): Promise<void> {
    return this.#told;
  }

  drained(): undefined {
    return undefined;
  }

  /** The returned function ends it. */
  subscribe(hear: AgentSessionEventListener): () => void {
    const own = { hear: patiently(hear) };
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  /** Nobody hears anything any more. */
  clear(): void {
    this.#listeners = [];
  }

  sendEvent(record: AgentEvent): void {
    this.#note(record);
    if (record.type !== 'agent_settled') this.#tell(record as AgentSessionEvent);
    else {
      // Whoever hears of it finds the session idle, and may begin the next run.
      const settled = this.#agent.session.run?.settled;
      this.#told = Promise.resolve(settled).then(() => this.#tell(record));
    }
  }

  sendUpdate(update: MessageUpdateEvent, snapshot: AssistantMessage): void {
    this.answer = snapshot;
    this.#tell(formatUpdate(defaultDialect, update, snapshot) as AgentSessionEvent);
  }

  #tell(event: AgentSessionEvent): void {
    const twins = event.type === 'message_update' ? [] : legacyEvents(defaultDialect, event);
    for (const one of [event, ...(twins as AgentSessionEvent[])]) {
      for (const { hear } of this.#listeners) hear(one);
    }
  }

  #note(event: AgentEvent): void {
    if (event.type === 'message_start' && event.message.role === 'assistant') this.answer = event.message;
    else if (event.type === 'message_end' || event.type === 'agent_end') this.answer = undefined;
    else if (event.type === 'tool_execution_start') this.calls.add(event.toolCallId);
    else if (event.type === 'tool_execution_end') this.calls.delete(event.toolCallId);
    if (event.type === 'agent_end') this.calls.clear();
  }
}

/** Other people's code that may fail: the first failure is told on stderr. */
export function patiently<A extends unknown[]>(call: (...args: A) => unknown): (...args: A) => void {
  let hasFailed = false;
  const complain = (error: unknown) => {
    if (!hasFailed) process.stderr.write(`tau: A listener failed: ${messageOf(error)}\n`);
    hasFailed = true;
  };
  return (...args) => {
    try {
      const answer = call(...args);
      if (answer instanceof Promise) answer.catch(complain);
    } catch (error) {
      complain(error);
    }
  };
}
