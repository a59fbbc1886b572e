import type { HostToolCallEvent, HostToolCancelEvent } from '../../protocol/generated/vocabulary.ts';

/** A client that runs tools. */
export interface ToolHost {
  /** It can no longer be heard. */
  readonly inputClosed: boolean;
  send(event: HostToolCallEvent | HostToolCancelEvent): void;
}
