import { Refusal } from '../protocol/errors.ts';
import type { AgentMessage, CustomMessage } from '../protocol/generated/vocabulary.ts';
import type { Transcript } from './transcript.ts';

export const MAX_INJECTED = 1000;

/** Something that is said beside the user, by whoever steps into a session. */
export type InjectedMessage = Pick<CustomMessage, 'customType' | 'content' | 'display' | 'details'>;

/**
 * When an aside that cannot be said at once is said: with steering, when the run would end, behind the next prompt, or at
 * the end of the run without another word of the model.
 */
export type DeliveryPoint = 'steer' | 'followUp' | 'nextTurn' | 'end';

export interface InjectionOptions {
  /** True: open a run with it when none is active. False: never let the model be asked for its sake. */
  readonly triggerTurn?: boolean | undefined;
  readonly deliverAs?: Exclude<DeliveryPoint, 'end'> | undefined;
}

/**
 * Asides that wait for their turn. They are kept in memory until then: a crash, or a change of session, loses them. What
 * a run does not take before it ends is there for the next one.
 */
export class InjectedMessages {
  readonly #transcript: Transcript;
  #pending: { readonly kind: DeliveryPoint; readonly message: InjectedMessage }[] = [];

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  has(kind: DeliveryPoint): boolean {
    return this.#pending.some((other) => other.kind === kind);
  }

  add(kind: DeliveryPoint, message: InjectedMessage): void {
    if (this.#pending.length >= MAX_INJECTED) {
      throw new Refusal('overloaded', `Too many messages wait to be said (${MAX_INJECTED})`);
    }
    this.#pending.push({ kind, message });
  }

  /** Stores those that are due, in the order in which they came, and answers them. */
  deliver(kind: DeliveryPoint): AgentMessage[] {
    const due = this.#pending.filter((other) => other.kind === kind);
    return due.map((item) => {
      const message = this.store(item.message);
      this.#pending = this.#pending.filter((other) => other !== item);
      return message;
    });
  }

  /** Stores one at once. */
  store({ customType, content, display, details }: InjectedMessage): AgentMessage {
    const stored: CustomMessage = { role: 'custom', customType, content, display, timestamp: Date.now() };
    return this.#transcript.add(details === undefined ? stored : { ...stored, details });
  }
}
