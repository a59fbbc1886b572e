import type { HostToolCallEvent, HostToolCancelEvent } from '../../protocol/generated/vocabulary.ts';

/** A client that runs host tools. */
export interface ToolHost {
  /** True if the client can no longer respond. */
  readonly inputClosed: boolean;
  send(event: HostToolCallEvent | HostToolCancelEvent): void;
}
