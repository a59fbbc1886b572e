import type { Delivery } from '../agent/loop.ts';
import type { AgentMessage, QueueMode } from '../protocol/generated/vocabulary.ts';
import type { InjectedMessages } from './injected-messages.ts';
import type { MessageQueue, QueueKind } from './queue.ts';
import type { Run } from './run.ts';

interface PendingInputParts {
  readonly queue: MessageQueue;
  readonly injected: InjectedMessages;
  readonly modeOf: (kind: QueueKind) => QueueMode;
}

/** Everything that waits for a run: what clients have queued, and asides, which no mode holds back. */
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

  /** Sets aside what is due; nobody can withdraw it between now and its delivery. */
  claim(kind: QueueKind, run: Run): Delivery {
    const { queue, injected, modeOf } = this.#parts;
    const deliver = queue.claim(kind, modeOf(kind));
    return () => {
      const queued = deliver().map(({ message, clientMessageId }) => {
        run.addClientMessageId(clientMessageId);
        return message;
      });
      return [...queued, ...injected.deliver(kind)];
    };
  }

  /** What a run goes on with that would end; undefined when nothing waits. It takes steering by itself. */
  take(run: Run): AgentMessage[] | undefined {
    if (this.has('steer')) return [];
    return this.has('followUp') ? this.claim('followUp', run)() : undefined;
  }
}
