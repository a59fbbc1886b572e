import type { QueuedItem } from '../../../../protocol/generated/vocabulary.ts';
import type { DraftContent } from './message-draft.ts';

interface QueuedDraft {
  readonly queueId: string;
  // The text in the queue.
  readonly text: string;
  readonly content: DraftContent;
}

/** Keeps queued messages with attachments as they were written: the server returns only their text. */
export class QueuedDrafts {
  #messages: readonly QueuedDraft[] = [];
  /** Withdrawals of the whole queue in flight. */
  #withdrawals = 0;

  add(message: QueuedDraft): void {
    if (message.content.attachments.length > 0) this.#messages = [...this.#messages, message];
  }

  /** Forgets messages that left the queue, unless a withdrawal is in flight, and applies edits. */
  sync(queue: readonly QueuedItem[]): void {
    this.#messages = this.#messages.flatMap((message) => {
      const item = queue.find(({ id }) => id === message.queueId);
      if (!item) return this.#withdrawals > 0 ? [message] : [];
      return [item.text === message.text ? message : editedDraft(message, item.text)];
    });
  }

  /** Keeps all messages during a withdrawal: the queue update arrives before the response. */
  async withdrawing<T>(withdraw: () => Promise<T>): Promise<T> {
    this.#withdrawals++;
    try {
      return await withdraw();
    } finally {
      this.#withdrawals--;
    }
  }

  /** Returns the last message with this text as it was written; earlier ones may have been delivered. */
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

/** Text files are part of the queued text; images are not. */
export const withText = ({ attachments }: DraftContent, text: string): DraftContent => ({
  text,
  attachments: attachments.filter(({ kind }) => kind === 'image'),
});
