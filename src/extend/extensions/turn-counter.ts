import type { AssistantMessage } from '../../protocol/generated/vocabulary.ts';
import type { RunEvent } from '../../session/hooks.ts';
import type { ExtensionHost } from './host.ts';

/** Counts the turns of a run and keeps the partial assistant message, as pi's events carry both. */
export class TurnCounter {
  readonly #applyStep: ExtensionHost['applyStep'];
  turn = 0;
  /** Kept only while a handler receives `message_update`. */
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
