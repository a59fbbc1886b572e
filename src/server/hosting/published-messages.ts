import type { AgentEvent, AgentMessage } from '../../protocol/generated/vocabulary.ts';

/**
 * Tracks which stored messages were published. A message is stored shortly before its event is published, so a snapshot
 * taken in between would deliver it twice.
 */
export class PublishedMessages {
  #count = 0;
  #last: string | undefined;
  #isRepeatExpected = false;

  /** Counts the first messages as published. */
  markUpTo(count: number): void {
    this.#count = count;
    this.#last = undefined;
    this.#isRepeatExpected = false;
  }

  /** The last message will be published once more. */
  expectRepeat(): void {
    this.#isRepeatExpected = true;
  }

  apply(event: AgentEvent): void {
    if (event.type !== 'message_end') return;
    this.#last = JSON.stringify(event.message);
    this.#isRepeatExpected = false;
  }

  /** The last messages of a conversation of `total`, as a JSON list, without those whose events are still to come. */
  withoutUnpublished(messages: string, total?: number): string {
    if (this.#last !== undefined && !this.#isRepeatExpected && messages.endsWith(`${this.#last}]`)) return messages;
    const all = JSON.parse(messages) as AgentMessage[];
    const isLast = (message: AgentMessage) => JSON.stringify(message) === this.#last;
    const last =
      this.#last === undefined ? this.#count - (total ?? all.length) + all.length - 1 : all.findLastIndex(isLast);
    // The last published message is no longer part of the conversation.
    if (this.#last !== undefined && last === -1) return messages;
    // Bash messages are never published as events.
    const kept = this.#isRepeatExpected ? last - 1 : last;
    return JSON.stringify(all.filter(({ role }, index) => index <= kept || role === 'bashExecution'));
  }
}
