import type { QueuedItem } from '../../../../protocol/generated/vocabulary.ts';
import type { DraftContent } from './message-draft.ts';

interface QueuedDraft {
  readonly queueId: string;
  /** As the queue has it. */
  readonly text: string;
  readonly content: DraftContent;
}

/** How messages with attachments were written that wait in the queue, should they be given back as their texts alone. */
export class QueuedDrafts {
  #messages: readonly QueuedDraft[] = [];
  /** How often all of them are being asked back now. */
  #withdrawals = 0;

  add(message: QueuedDraft): void {
    if (message.content.attachments.length > 0) this.#messages = [...this.#messages, message];
  }

  /** Forgets what waits no more, unless it is about to be given back, and takes note of what was changed. */
  sync(queue: readonly QueuedItem[]): void {
    this.#messages = this.#messages.flatMap((message) => {
      const item = queue.find(({ id }) => id === message.queueId);
      if (!item) return this.#withdrawals > 0 ? [message] : [];
      return [item.text === message.text ? message : editedDraft(message, item.text)];
    });
  }

  /** While all of them are asked back none is forgotten: that they are no longer queued is told first. */
  async withdrawing<T>(withdraw: () => Promise<T>): Promise<T> {
    this.#withdrawals++;
    try {
      return await withdraw();
    } finally {
      this.#withdrawals--;
    }
  }

  /** How a text was written that is given back. The last ones are: those before may have been delivered. */
  take(text: string): DraftContent {
    const found = this.#messages.findLast((message) => message.text === text);
    this.#messages = this.#messages.filter((message) => message !== found);
    return found?.content ?? { text, attachments: [] };
  }
}

const editedDraft = ({ queueId, content }: QueuedDraft, text: string): QueuedDraft => ({
  queueId,
  text,
  content: withText(content, text),
});

/** Files of text are part of a message that waits; pictures are not. */
export const withText = ({ attachments }: DraftContent, text: string): DraftContent => ({
  text,
  attachments: attachments.filter(({ kind }) => kind === 'image'),
});
