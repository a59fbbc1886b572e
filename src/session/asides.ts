import { Refusal } from '../protocol/errors.ts';
import type { AgentMessage, CustomMessage } from '../protocol/generated/vocabulary.ts';
import type { Transcript } from './transcript.ts';

export const MAX_ASIDES = 1000;

/** Something that is said beside the user, by whoever steps into a session. */
export type Aside = Pick<CustomMessage, 'customType' | 'content' | 'display' | 'details'>;

/**
 * When an aside that cannot be said at once is said: with steering, when the run would end, behind the next prompt, or at
 * the end of the run without another word of the model.
 */
export type AsideKind = 'steer' | 'followUp' | 'nextTurn' | 'end';

export interface AsideManner {
  /** True: open a run with it when none is active. False: never let the model be asked for its sake. */
  readonly triggerTurn?: boolean | undefined;
  readonly deliverAs?: Exclude<AsideKind, 'end'> | undefined;
}

/**
 * Asides that wait for their turn. They are kept in memory until then: a crash, or a change of session, loses them. What
 * a run does not take before it ends is there for the next one.
 */
export class Asides {
  readonly #transcript: Transcript;
  #waiting: { readonly kind: AsideKind; readonly aside: Aside }[] = [];

  constructor(transcript: Transcript) {
    this.#transcript = transcript;
  }

  has(kind: AsideKind): boolean {
    return this.#waiting.some((other) => other.kind === kind);
  }

  add(kind: AsideKind, aside: Aside): void {
    if (this.#waiting.length >= MAX_ASIDES) {
      throw new Refusal('overloaded', `Too many messages wait to be said (${MAX_ASIDES})`);
    }
    this.#waiting.push({ kind, aside });
  }

  /** Stores those that are due, in the order in which they came, and answers them. */
  deliver(kind: AsideKind): AgentMessage[] {
    const due = this.#waiting.filter((other) => other.kind === kind);
    return due.map((item) => {
      const message = this.say(item.aside);
      this.#waiting = this.#waiting.filter((other) => other !== item);
      return message;
    });
  }

  /** Stores one at once. */
  say({ customType, content, display, details }: Aside): AgentMessage {
    const message: CustomMessage = { role: 'custom', customType, content, display, timestamp: Date.now() };
    return this.#transcript.add(details === undefined ? message : { ...message, details });
  }
}
