import type { AssistantMessage, MessageUpdateEvent } from '../protocol/generated/vocabulary.ts';
import { fold, joined } from './fold.ts';

/** A step of an answer, and the message after it. */
export interface Step {
  readonly update: MessageUpdateEvent;
  readonly snapshot: AssistantMessage;
}

/** An answer that streams. What was told of it is kept with the deltas of a block as one, so that it can be told again. */
export class AnswerSoFar {
  /** How it began: empty. */
  readonly opening: AssistantMessage;
  readonly #told: MessageUpdateEvent[] = [];
  #message: AssistantMessage;

  constructor(opening: AssistantMessage) {
    this.opening = opening;
    this.#message = opening;
  }

  /** The message after one more step. */
  hear(update: MessageUpdateEvent): AssistantMessage {
    this.#message = fold(this.#message, update.assistantMessageEvent);
    const last = this.#told.at(-1);
    const longer = last && joined(last, update);
    if (longer) this.#told[this.#told.length - 1] = longer;
    else this.#told.push(update);
    return this.#message;
  }

  /** What somebody who comes now has missed. */
  *retold(): Generator<Step> {
    let snapshot = this.opening;
    for (const update of this.#told) {
      snapshot = fold(snapshot, update.assistantMessageEvent);
      yield { update, snapshot };
    }
  }
}
