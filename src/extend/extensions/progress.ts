import type { AssistantMessage } from '../../protocol/generated/vocabulary.ts';
import type { RunEvent } from '../../session/hooks.ts';
import type { ExtensionHost } from './host.ts';

/** Where a run is: pi counts the turns, and shows an answer whole after each step. */
export class Progress {
  readonly #fold: ExtensionHost['fold'];
  turn = 0;
  /** The answer so far, as long as somebody wants to see its steps. */
  answer: AssistantMessage | undefined;

  constructor(fold: ExtensionHost['fold']) {
    this.#fold = fold;
  }

  note(event: RunEvent, { withSteps }: { withSteps: boolean }): void {
    if (event.type === 'agent_start') this.turn = 0;
    else if (event.type === 'message_start' && event.message.role === 'assistant') this.answer = event.message;
    else if (event.type === 'message_update' && this.answer && withSteps) {
      this.answer = this.#fold(this.answer, event.assistantMessageEvent);
    }
  }
}
