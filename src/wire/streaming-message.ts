import type { AssistantMessage, MessageUpdateEvent } from '../protocol/generated/vocabulary.ts';
import { applyStep, joinDeltas } from './assistant-message.ts';

/** A step of an answer, and the message after it. */
export interface MessageStep {
  readonly update: MessageUpdateEvent;
  readonly snapshot: AssistantMessage;
}

/** An answer that streams. What was told of it is kept with the deltas of a block as one, so that it can be told again. */
export class StreamingMessage {
  /** How it began: empty. */
  readonly initial: AssistantMessage;
  readonly #updates: MessageUpdateEvent[] = [];
  #message: AssistantMessage;

  constructor(initial: AssistantMessage) {
    this.initial = initial;
    this.#message = initial;
  }

  /** The message after one more step. */
  apply(update: MessageUpdateEvent): AssistantMessage {
    this.#message = applyStep(this.#message, update.assistantMessageEvent);
    const last = this.#updates.at(-1);
    const merged = last && joinDeltas(last, update);
    if (merged) this.#updates[this.#updates.length - 1] = merged;
    else this.#updates.push(update);
    return this.#message;
  }

  /** What somebody who comes now has missed. */
  *replay(): Generator<MessageStep> {
    let snapshot = this.initial;
    for (const update of this.#updates) {
      snapshot = applyStep(snapshot, update.assistantMessageEvent);
      yield { update, snapshot };
    }
  }
}
