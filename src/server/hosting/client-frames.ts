import type { ExtensionUiRequestEvent, Frame } from '../../protocol/generated/vocabulary.ts';
import type { MalformedFrame } from '../../wire/inbound.ts';
import type { Subscriber } from '../sessions.ts';
import type { HostedAgent } from './agent/hosted-agent.ts';
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

  /** Forwards a frame that answers an open dialog or one of the client's own tool calls; returns whether it does. */
  send(frame: Frame, subscriber: Subscriber): boolean {
    const { agent, liveState, publisher, tools } = this.#parts;
    const { id, type } = frame;
    // Only the host itself may confirm entries.
    if (type === 'entries_kept') return false;
    const isAwaited =
      type === 'extension_ui_response'
        ? mayAnswer(subscriber, liveState.dialogs.get(id))
        : tools.ownsCall(subscriber, id, { isLast: type === 'host_tool_result' });
    if (isAwaited) agent()?.sendFrame(frame);
    if (isAwaited && type === 'extension_ui_response') publisher.resolveDialog(id, 'client');
    return isAwaited;
  }

  /** Forwards the type and id of a malformed frame, or fails the tool call that it answers; returns whether it did. */
  sendMalformed(frame: MalformedFrame, subscriber: Subscriber): boolean {
    const { agent, tools } = this.#parts;
    const { name: type, id } = frame;
    const failure = type === 'host_tool_result' ? tools.failMalformed(subscriber, frame) : undefined;
    if (!failure) return this.send({ type, id } as Frame, subscriber);
    agent()?.sendFrame(failure);
    return true;
  }
}

const mayAnswer = ({ isAdmin }: Subscriber, dialog: ExtensionUiRequestEvent | undefined): boolean =>
  dialog !== undefined && (dialog.scope === undefined || isAdmin);
