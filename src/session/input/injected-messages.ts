import { Refusal } from '../../protocol/errors.ts';
import type { AgentMessage, ApprovalMode, CustomMessage } from '../../protocol/generated/vocabulary.ts';
import type { Transcript } from '../transcript.ts';

export const MAX_INJECTED = 1000;

/** A message that an extension or another part of tau adds to the conversation beside the user's. */
export type InjectedMessage = Pick<CustomMessage, 'customType' | 'content' | 'display' | 'details'>;

/**
 * When a message that cannot be stored at once is delivered: with steering, when the run would end, after the next
 * prompt, or at the end of the run without another model call.
 */
export type DeliveryPoint = 'steer' | 'followUp' | 'nextTurn' | 'end';

export interface InjectionOptions {
  /** True: starts a run when none is active. False: never causes a model call. */
  readonly triggerTurn?: boolean | undefined;
  readonly deliverAs?: Exclude<DeliveryPoint, 'end'> | undefined;
  /** The loosest approval mode of a run that the message starts or steers. */
  readonly approvalLimit?: ApprovalMode | undefined;
}

/**
 * Injected messages that wait for delivery, in memory only: a crash or a session change loses them. Messages that a run
 * does not take stay for the next run.
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
      throw new Refusal('overloaded', `Too many injected messages wait (${MAX_INJECTED})`);
    }
    this.#pending.push({ kind, message });
  }

  /** Stores the messages of this delivery point in the order they were added, and returns them. */
  deliver(kind: DeliveryPoint): AgentMessage[] {
    const due = this.#pending.filter((other) => other.kind === kind);
    return due.map((item) => {
      const message = this.store(item.message);
      this.#pending = this.#pending.filter((other) => other !== item);
      return message;
    });
  }

  /** Stores one message at once. */
  store({ customType, content, display, details }: InjectedMessage): AgentMessage {
    const stored: CustomMessage = { role: 'custom', customType, content, display, timestamp: Date.now() };
    return this.#transcript.add(details === undefined ? stored : { ...stored, details });
  }
}
