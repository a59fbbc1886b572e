import type { AssistantMessage, MessageUpdateEvent } from '../protocol/generated/vocabulary.ts';
import { applyStep, joinDeltas } from './assistant-message.ts';

/** A step of a streaming message, and the message after it. */
export interface MessageStep {
  readonly update: MessageUpdateEvent;
  readonly snapshot: AssistantMessage;
}

/** A streaming assistant message that can be replayed: it keeps all steps, with the deltas of a block merged. */
export class StreamingMessage {
  /** The empty message of `message_start`. */
  readonly initial: AssistantMessage;
  readonly #updates: MessageUpdateEvent[] = [];
  #message: AssistantMessage;

  constructor(initial: AssistantMessage) {
    this.initial = initial;
    this.#message = initial;
  }

  /** Applies one more step and returns the message after it. */
  apply(update: MessageUpdateEvent): AssistantMessage {
    this.#message = applyStep(this.#message, update.assistantMessageEvent);
    const last = this.#updates.at(-1);
    const merged = last && joinDeltas(last, update);
    if (merged) this.#updates[this.#updates.length - 1] = merged;
    else this.#updates.push(update);
    return this.#message;
  }

  /** Yields the steps so far, for a subscriber that joins late. */
  *replay(): Generator<MessageStep> {
    let snapshot = this.initial;
    for (const update of this.#updates) {
      snapshot = applyStep(snapshot, update.assistantMessageEvent);
      yield { update, snapshot };
    }
  }
}
