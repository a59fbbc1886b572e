import type { AssistantMessage } from '../../protocol/generated/vocabulary.ts';
import type { RunEvent } from '../../session/hooks.ts';
import type { ExtensionHost } from './host.ts';

/** Where a run is: pi counts the turns, and shows an answer whole after each step. */
export class TurnCounter {
  readonly #applyStep: ExtensionHost['applyStep'];
  turn = 0;
  /** The answer so far, as long as somebody wants to see its steps. */
  partialMessage: AssistantMessage | undefined;

  constructor(applyStep: ExtensionHost['applyStep']) {
    this.#applyStep = applyStep;
  }

  apply(event: RunEvent, { withSteps }: { withSteps: boolean }): void {
    if (event.type === 'agent_start') this.turn = 0;
    else if (event.type === 'message_start' && event.message.role === 'assistant') this.partialMessage = event.message;
    else if (event.type === 'message_update' && this.partialMessage && withSteps) {
      this.partialMessage = this.#applyStep(this.partialMessage, event.assistantMessageEvent);
    }
  }
}
