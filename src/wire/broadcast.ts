import type { AgentEvent, AssistantMessage } from '../protocol/generated/vocabulary.ts';
import { catchUp, fold } from './fold.ts';
import type { Outbox } from './outbox.ts';

/** One listener: its outbox, and whether it wants the entries themselves. */
export interface Listener {
  readonly outbox: Outbox;
  readonly entries: boolean;
}

/** Tells every client what happens, in one order. The streaming answer is folded once, whoever listens. */
export class Broadcast {
  readonly #listeners = new Set<Listener>();
  #answer: AssistantMessage | undefined;
  #opening: AssistantMessage | undefined;

  /** Adds a client. One that arrives while an answer streams is told what it has missed of it. */
  add(listener: Listener): void {
    this.#listeners.add(listener);
    if (!this.#answer || !this.#opening) return;
    listener.outbox.event({ type: 'message_start', message: this.#opening });
    let snapshot = this.#opening;
    for (const step of catchUp(this.#answer)) {
      snapshot = fold(snapshot, step);
      listener.outbox.step({ type: 'message_update', assistantMessageEvent: step }, snapshot);
    }
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
  }

  /** Whether anybody follows the session's entries. */
  get wantsEntries(): boolean {
    return [...this.#listeners].some(({ entries }) => entries);
  }

  publish(event: AgentEvent): void {
    if (event.type === 'message_update') {
      if (!this.#answer) return;
      this.#answer = fold(this.#answer, event.assistantMessageEvent);
      for (const { outbox } of this.#listeners) outbox.step(event, this.#answer);
      return;
    }
    if (event.type === 'message_start' && event.message.role === 'assistant') {
      this.#opening = event.message;
      this.#answer = event.message;
    } else if (event.type === 'message_end' || event.type === 'agent_end') this.#answer = undefined;
    for (const { outbox, entries } of this.#listeners) {
      if (event.type !== 'entry_appended' || entries) outbox.event(event);
    }
  }

  /** Undefined while every client keeps up; otherwise settles when the slowest has caught up. */
  room(): Promise<void> | undefined {
    for (const { outbox } of this.#listeners) {
      const room = outbox.room();
      if (room !== undefined) return room;
    }
    return undefined;
  }
}
