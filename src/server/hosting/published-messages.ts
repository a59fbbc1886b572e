import type { AgentEvent, AgentMessage } from '../../protocol/generated/vocabulary.ts';

/**
 * How far a conversation was told. What is said is stored first and told a moment later: whoever is told everything that
 * is stored in between would hear it twice.
 */
export class PublishedMessages {
  #count = 0;
  #last: string | undefined;
  #isRepeatExpected = false;

  /** So many messages are told already, or never will be. */
  markUpTo(count: number): void {
    this.#count = count;
    this.#last = undefined;
    this.#isRepeatExpected = false;
  }

  /** The last message is about to be told once more. */
  expectRepeat(): void {
    this.#isRepeatExpected = true;
  }

  apply(event: AgentEvent): void {
    if (event.type !== 'message_end') return;
    this.#last = JSON.stringify(event.message);
    this.#isRepeatExpected = false;
  }

  /** The last messages of a conversation of so many, as a JSON list, without those that are about to be told. */
  withoutUnpublished(messages: string, total?: number): string {
    if (this.#last !== undefined && !this.#isRepeatExpected && messages.endsWith(`${this.#last}]`)) return messages;
    const all = JSON.parse(messages) as AgentMessage[];
    const isLast = (message: AgentMessage) => JSON.stringify(message) === this.#last;
    const last =
      this.#last === undefined ? this.#count - (total ?? all.length) + all.length - 1 : all.findLastIndex(isLast);
    // What was told last is no part of it any more: nobody knows.
    if (this.#last !== undefined && last === -1) return messages;
    // Of what users run in the shell nothing is told.
    const kept = this.#isRepeatExpected ? last - 1 : last;
    return JSON.stringify(all.filter(({ role }, index) => index <= kept || role === 'bashExecution'));
  }
}
