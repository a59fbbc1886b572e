import type { Delivery } from '../agent/loop.ts';
import type { AgentMessage, QueueMode } from '../protocol/generated/vocabulary.ts';
import type { Asides } from './asides.ts';
import type { MessageQueue, QueueKind } from './queue.ts';
import type { Run } from './run.ts';

interface WaitingParts {
  readonly queue: MessageQueue;
  readonly asides: Asides;
  readonly modeOf: (kind: QueueKind) => QueueMode;
}

/** Everything that waits for a run: what clients have queued, and asides, which no mode holds back. */
export class Waiting {
  readonly #parts: WaitingParts;

  constructor(parts: WaitingParts) {
    this.#parts = parts;
  }

  get isEmpty(): boolean {
    return !this.has('steer') && !this.has('followUp');
  }

  has(kind: QueueKind): boolean {
    return this.#parts.queue.has(kind) || this.#parts.asides.has(kind);
  }

  /** Sets aside what is due; nobody can withdraw it between now and its delivery. */
  claim(kind: QueueKind, run: Run): Delivery {
    const { queue, asides, modeOf } = this.#parts;
    const deliver = queue.claim(kind, modeOf(kind));
    return () => {
      const queued = deliver().map(({ message, clientMessageId }) => {
        run.serve(clientMessageId);
        return message;
      });
      return [...queued, ...asides.deliver(kind)];
    };
  }

  /** What a run goes on with that would end; undefined when nothing waits. It takes steering by itself. */
  take(run: Run): AgentMessage[] | undefined {
    if (this.has('steer')) return [];
    return this.has('followUp') ? this.claim('followUp', run)() : undefined;
  }
}
