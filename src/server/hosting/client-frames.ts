import type { ExtensionUiRequestEvent, ExtensionUiResponse, Frame } from '../../protocol/generated/vocabulary.ts';
import type { MalformedFrame } from '../../wire/inbound.ts';
import type { Subscriber } from '../sessions.ts';
import type { HostedAgent } from './agent/hosted-agent.ts';
import { approvalIn, judgeAnswer } from './approval-answer.ts';
import type { EventPublisher } from './event-publisher.ts';
import type { HostToolRouter } from './host-tool-router.ts';
import type { LiveState } from './live-state.ts';

interface FrameParts {
  readonly tools: HostToolRouter;
  readonly publisher: EventPublisher;
  readonly liveState: LiveState;
  readonly agent: () => HostedAgent | undefined;
}

/** Forwards the frames of clients to the agent: answers to dialogs, and results of host tools. */
export class ClientFrames {
  readonly #parts: FrameParts;

  constructor(parts: FrameParts) {
    this.#parts = parts;
  }

  /** Forwards a frame that answers an open dialog or one of the client's own tool calls. */
  send(frame: Frame, subscriber: Subscriber): void {
    const { agent, tools } = this.#parts;
    // Only the host itself may confirm entries.
    if (frame.type === 'entries_kept') return;
    if (frame.type === 'extension_ui_response') this.#answerDialog(frame, subscriber);
    else if (tools.ownsCall(subscriber, frame.id, { isLast: frame.type === 'host_tool_result' }))
      agent()?.sendFrame(frame);
  }

  /** Forwards the type and id of a malformed frame, or fails the tool call that it answers. */
  sendMalformed(frame: MalformedFrame, subscriber: Subscriber): void {
    const { agent, tools } = this.#parts;
    const { name: type, id } = frame;
    const failure = type === 'host_tool_result' ? tools.failMalformed(subscriber, frame) : undefined;
    if (failure) agent()?.sendFrame(failure);
    else this.send({ type, id } as Frame, subscriber);
  }

  /** Forwards the first answer to a dialog. A client that may not give its answer gets the dialog again. */
  #answerDialog(frame: ExtensionUiResponse, subscriber: Subscriber): void {
    const { agent, liveState, publisher } = this.#parts;
    const dialog = liveState.dialogs.get(frame.id);
    if (!dialog || !mayAnswer(subscriber, dialog)) return;
    const approval = approvalIn(dialog);
    const judged = approval && judgeAnswer(approval, frame);
    if (judged?.isBeyondLimit) {
      subscriber.onAnswer({ outcome: 'permission_denied', approval: judged.answer });
      subscriber.onRecord(liveState.repeat(dialog));
      return;
    }
    agent()?.sendFrame(judged?.frame ?? frame);
    publisher.resolveDialog(frame.id, 'client');
    subscriber.onAnswer({ outcome: 'ok', approval: judged?.answer });
  }
}

/** A question about a tool call is answered only by clients that can see it. */
const mayAnswer = ({ isAdmin, canAnswerDialogs }: Subscriber, dialog: ExtensionUiRequestEvent): boolean =>
  (dialog.scope === undefined || isAdmin) && (canAnswerDialogs || approvalIn(dialog) === undefined);
