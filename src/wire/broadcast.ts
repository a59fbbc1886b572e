import type { AgentEvent, MessageUpdateEvent } from '../protocol/generated/vocabulary.ts';
import { AnswerSoFar } from './answer-so-far.ts';
import type { Outbox } from './outbox.ts';

/** Where a listener is told of things. */
export type Mailbox = Pick<Outbox, 'event' | 'step' | 'isFull' | 'room'>;

/** One listener: its outbox, and whether it wants the entries themselves. */
export interface Listener {
  readonly outbox: Mailbox;
  readonly entries: boolean;
}

/** Tells every client what happens, in one order. The streaming answer is folded once, whoever listens. */
export class Broadcast {
  readonly #listeners = new Set<Listener>();
  #answer: AnswerSoFar | undefined;

  /** Adds a client. One that arrives while an answer streams is told what it has missed of it. */
  add(listener: Listener): void {
    this.#listeners.add(listener);
    if (this.#answer) catchUp(listener.outbox, this.#answer);
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
  }

  publish(event: AgentEvent): void {
    if (event.type === 'message_update') {
      this.#step(event);
      return;
    }
    if (event.type === 'message_start' && event.message.role === 'assistant') {
      this.#answer = new AnswerSoFar(event.message);
    } else if (event.type === 'message_end' || event.type === 'agent_end') this.#answer = undefined;
    for (const { outbox, entries } of this.#listeners) {
      if (event.type !== 'entry_appended' || entries) outbox.event(event);
    }
  }

  /** Whether every client keeps up. */
  get hasRoom(): boolean {
    return [...this.#listeners].every(({ outbox }) => !outbox.isFull);
  }

  /** Undefined while every client keeps up; otherwise settles when one that is behind has caught up: ask again then. */
  room(): Promise<void> | undefined {
    for (const { outbox } of this.#listeners) {
      const room = outbox.room();
      if (room !== undefined) return room;
    }
    return undefined;
  }

  #step(update: MessageUpdateEvent): void {
    const answer = this.#answer;
    if (!answer) return;
    const snapshot = answer.hear(update);
    for (const { outbox } of this.#listeners) outbox.step(update, snapshot);
  }
}

function catchUp(outbox: Mailbox, answer: AnswerSoFar): void {
  outbox.event({ type: 'message_start', message: answer.opening });
  for (const { update, snapshot } of answer.retold()) outbox.step(update, snapshot);
}
