import type { Agent } from '../engine/agent.ts';
import type { SubscriberQueue } from '../fanout/broadcast.ts';
import type { QueuedEvent } from '../fanout/event-queue.ts';
import { messageOf } from '../protocol/errors.ts';
import type { AgentEvent, AssistantMessage, MessageUpdateEvent } from '../protocol/generated/vocabulary.ts';
import { warn } from '../system/terminal-text.ts';
import { defaultDialect, formatUpdate, legacyEvents } from '../wire/dialect.ts';

/** The events of an `AgentSession`: an update has the whole message so far. */
export type AgentSessionEvent =
  | Exclude<AgentEvent, MessageUpdateEvent>
  | (MessageUpdateEvent & { message: AssistantMessage });

export type AgentSessionEventListener = (event: AgentSessionEvent) => void;

/** Emits events to listeners in this process synchronously. Errors that they throw are logged. */
export class SessionEventEmitter implements SubscriberQueue {
  readonly isFull = false;
  streamingMessage: AssistantMessage | undefined;
  readonly runningCalls = new Set<string>();
  readonly #agent: Agent;
  #listeners: readonly { readonly call: (event: AgentSessionEvent) => void }[] = [];
  #delivered: Promise<void> = Promise.resolve();

  constructor(agent: Agent) {
    this.#agent = agent;
    agent.broadcast.add({ eventQueue: this, entries: true });
  }

  /** Resolves when all events so far have been delivered. */
  get delivered(): Promise<void> {
    return this.#delivered;
  }

  drained(): undefined {
    return undefined;
  }

  /** The returned function removes the listener. */
  subscribe(listener: AgentSessionEventListener): () => void {
    const own = { call: logFirstError(listener) };
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  clear(): void {
    this.#listeners = [];
  }

  publish({ event, snapshot }: QueuedEvent): void {
    if (event.type === 'message_update' && snapshot) {
      this.streamingMessage = snapshot;
      this.#emit(formatUpdate(defaultDialect, event, snapshot) as AgentSessionEvent);
      return;
    }
    this.#apply(event);
    if (event.type !== 'agent_settled') this.#emit(event as AgentSessionEvent);
    else {
      // `agent_settled` is delivered when the session is idle, so that a listener can start the next run.
      const settled = this.#agent.session.run?.settled;
      this.#delivered = Promise.resolve(settled).then(() => this.#emit(event));
    }
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

/** Wraps a callback: its errors are caught, and the first one is printed to stderr. */
export function logFirstError<A extends unknown[]>(call: (...args: A) => unknown): (...args: A) => void {
  let hasFailed = false;
  const logError = (error: unknown) => {
    if (!hasFailed) warn(`A listener failed: ${messageOf(error)}`);
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
