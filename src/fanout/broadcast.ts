import type { AgentEvent, MessageUpdateEvent } from '../protocol/generated/vocabulary.ts';
import { StreamingMessage } from '../wire/assistant-message.ts';
import type { LineQueue } from './line-queue.ts';
import { eventsOfRun, idleRun, type LiveRun, reduceRun } from './live-run.ts';

export type SubscriberQueue = Pick<LineQueue, 'publish' | 'isFull' | 'drained'>;

export interface BroadcastSubscriber {
  readonly eventQueue: SubscriberQueue;
  /** Whether it receives `entry_appended`. */
  readonly entries: boolean;
  /** Adds the ids of session and run, if the subscriber requested them. */
  readonly stamp?: (<E extends AgentEvent>(event: E) => E) | undefined;
}

/** Publishes events to every subscriber in one order. The streaming assistant message is folded only once. */
export class Broadcast {
  readonly #subscribers = new Set<BroadcastSubscriber>();
  #streaming: StreamingMessage | undefined;
  #run: LiveRun = idleRun;

  /** Adds a subscriber. During a streaming message it first receives the steps that it missed. */
  add(subscriber: BroadcastSubscriber): void {
    this.#subscribers.add(subscriber);
    if (this.#streaming) replayTo(subscriber.eventQueue, this.#streaming);
  }

  remove(subscriber: BroadcastSubscriber): void {
    this.#subscribers.delete(subscriber);
  }

  /** Sends the progress of the running tools to a subscriber that changed its form. */
  replayProgress(subscriber: BroadcastSubscriber): void {
    for (const event of eventsOfRun(this.#run))
      if (event.type === 'tool_execution_update') this.#send(subscriber, event);
  }

  publish(event: AgentEvent): void {
    if (event.type === 'message_update') {
      this.#publishUpdate(event);
      return;
    }
    this.#run = reduceRun(this.#run, event);
    if (event.type === 'message_start' && event.message.role === 'assistant') {
      this.#streaming = new StreamingMessage(event.message);
    } else if (event.type === 'message_end' || event.type === 'agent_end') this.#streaming = undefined;
    for (const subscriber of this.#subscribers) {
      if (event.type !== 'entry_appended' || subscriber.entries) this.#send(subscriber, event);
    }
  }

  #send({ eventQueue, stamp }: BroadcastSubscriber, event: AgentEvent): void {
    eventQueue.publish({ event: stamp ? stamp(event) : event });
  }

  get hasRoom(): boolean {
    return [...this.#subscribers].every(({ eventQueue }) => !eventQueue.isFull);
  }

  /** Undefined while every subscriber keeps up; otherwise settles when one that is behind has caught up: then call again. */
  drained(): Promise<void> | undefined {
    for (const { eventQueue } of this.#subscribers) {
      const drained = eventQueue.drained();
      if (drained !== undefined) return drained;
    }
    return undefined;
  }

  #publishUpdate(update: MessageUpdateEvent): void {
    const streaming = this.#streaming;
    if (!streaming) return;
    const snapshot = streaming.apply(update);
    for (const { eventQueue, stamp } of this.#subscribers)
      eventQueue.publish({ event: stamp ? stamp(update) : update, snapshot });
  }
}

function replayTo(eventQueue: SubscriberQueue, streaming: StreamingMessage): void {
  eventQueue.publish({ event: { type: 'message_start', message: streaming.initial } });
  for (const { update, snapshot } of streaming.replay()) eventQueue.publish({ event: update, snapshot });
}
