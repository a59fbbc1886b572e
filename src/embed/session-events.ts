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
export class SessionEventEmitter implements SubscriberQueue {
  readonly isFull = false;
  /** The answer that streams. */
  streamingMessage: AssistantMessage | undefined;
  /** The tool calls that are under way. */
  readonly runningCalls = new Set<string>();
  readonly #agent: Agent;
  #listeners: readonly { readonly call: (event: AgentSessionEvent) => void }[] = [];
  #delivered: Promise<void> = Promise.resolve();

  constructor(agent: Agent) {
    this.#agent = agent;
    agent.broadcast.add({ eventQueue: this, entries: true });
  }

  /** Settles when everything that has happened was heard. */
  get delivered(): Promise<void> {
    return this.#delivered;
  }

  drained(): undefined {
    return undefined;
  }

  /** The returned function ends it. */
  subscribe(listener: AgentSessionEventListener): () => void {
    const own = { call: logFirstError(listener) };
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
    this.#apply(record);
    if (record.type !== 'agent_settled') this.#emit(record as AgentSessionEvent);
    else {
      // Whoever hears of it finds the session idle, and may begin the next run.
      const settled = this.#agent.session.run?.settled;
      this.#delivered = Promise.resolve(settled).then(() => this.#emit(record));
    }
  }

  sendUpdate(update: MessageUpdateEvent, snapshot: AssistantMessage): void {
    this.streamingMessage = snapshot;
    this.#emit(formatUpdate(defaultDialect, update, snapshot) as AgentSessionEvent);
  }

  #emit(event: AgentSessionEvent): void {
    const twins = event.type === 'message_update' ? [] : legacyEvents(defaultDialect, event);
    for (const one of [event, ...(twins as AgentSessionEvent[])]) {
      for (const { call: listener } of this.#listeners) listener(one);
    }
  }

  #apply(event: AgentEvent): void {
    if (event.type === 'message_start' && event.message.role === 'assistant') this.streamingMessage = event.message;
    else if (event.type === 'message_end' || event.type === 'agent_end') this.streamingMessage = undefined;
    else if (event.type === 'tool_execution_start') this.runningCalls.add(event.toolCallId);
    else if (event.type === 'tool_execution_end') this.runningCalls.delete(event.toolCallId);
    if (event.type === 'agent_end') this.runningCalls.clear();
  }
}

/** Other people's code that may fail: the first failure is told on stderr. */
export function logFirstError<A extends unknown[]>(call: (...args: A) => unknown): (...args: A) => void {
  let hasFailed = false;
  const logError = (error: unknown) => {
    if (!hasFailed) process.stderr.write(`tau: A listener failed: ${messageOf(error)}\n`);
    hasFailed = true;
  };
  return (...args) => {
    try {
      const result = call(...args);
      if (result instanceof Promise) result.catch(logError);
    } catch (error) {
      logError(error);
    }
  };
}
