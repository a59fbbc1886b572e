import type { Delivery } from '../../agent/loop.ts';
import type { AgentMessage, QueueMode } from '../../protocol/generated/vocabulary.ts';
import type { Run } from '../run/run.ts';
import type { InjectedMessages } from './injected-messages.ts';
import type { MessageQueue, QueueKind } from './queue.ts';

interface PendingInputParts {
  readonly queue: MessageQueue;
  readonly injected: InjectedMessages;
  readonly modeOf: (kind: QueueKind) => QueueMode;
}

/** Input that waits for a run: queued messages, and injected messages, which no queue mode delays. */
export class PendingInput {
  readonly #parts: PendingInputParts;

  constructor(parts: PendingInputParts) {
    this.#parts = parts;
  }

  get isEmpty(): boolean {
    return !this.has('steer') && !this.has('followUp');
  }

  has(kind: QueueKind): boolean {
    return this.#parts.queue.has(kind) || this.#parts.injected.has(kind);
  }

  /** Reserves the messages that are due; they cannot be withdrawn before the returned function delivers them. */
  claim(kind: QueueKind, run: Run): Delivery {
    const { queue, injected, modeOf } = this.#parts;
    const deliver = queue.claim(kind, modeOf(kind));
    return () => {
      const queued = deliver().map(({ message, clientMessageId, approvalLimit }) => {
        run.addClientMessageId(clientMessageId);
        run.limitApprovals(approvalLimit);
        return message;
      });
      return [...queued, ...injected.deliver(kind)];
    };
  }

  /** Messages that continue a run at its end; undefined when there are none. The loop takes steering itself. */
  take(run: Run): AgentMessage[] | undefined {
    if (this.has('steer')) return [];
    return this.has('followUp') ? this.claim('followUp', run)() : undefined;
  }
}
