import type { QueuedItem } from '../../../../protocol/generated/vocabulary.ts';
import type { Written } from './writing.ts';

interface WaitingMessage {
  readonly queueId: string;
  /** As the queue has it. */
  readonly text: string;
  readonly written: Written;
}

/** How messages with attachments were written that wait in the queue, should they be given back as their texts alone. */
export class Waiting {
  #messages: readonly WaitingMessage[] = [];
  /** How often all of them are being asked back now. */
  #takings = 0;

  add(message: WaitingMessage): void {
    if (message.written.attachments.length > 0) this.#messages = [...this.#messages, message];
  }

  /** Forgets what waits no more, unless it is about to be given back, and takes note of what was changed. */
  settle(queue: readonly QueuedItem[]): void {
    this.#messages = this.#messages.flatMap((message) => {
      const item = queue.find(({ id }) => id === message.queueId);
      if (!item) return this.#takings > 0 ? [message] : [];
      return [item.text === message.text ? message : changed(message, item.text)];
    });
  }

  /** While all of them are asked back none is forgotten: that they are no longer queued is told first. */
  async during<T>(taking: () => Promise<T>): Promise<T> {
    this.#takings++;
    try {
      return await taking();
    } finally {
      this.#takings--;
    }
  }

  /** How a text was written that is given back. The last ones are: those before may have been delivered. */
  take(text: string): Written {
    const found = this.#messages.findLast((message) => message.text === text);
    this.#messages = this.#messages.filter((message) => message !== found);
    return found?.written ?? { text, attachments: [] };
  }
}

const changed = ({ queueId, written }: WaitingMessage, text: string): WaitingMessage => ({
  queueId,
  text,
  written: rewritten(written, text),
});

/** Files of text are part of a message that waits; pictures are not. */
export const rewritten = ({ attachments }: Written, text: string): Written => ({
  text,
  attachments: attachments.filter(({ kind }) => kind === 'image'),
});
