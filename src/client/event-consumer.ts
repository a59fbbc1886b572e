import type { AgentEvent } from '../protocol/generated/vocabulary.ts';
import type { ConnectionLost } from './connection-lost.ts';

/** Buffers events, and bounds its memory by the length of their lines. */
export interface EventConsumer {
  /** `length` is the length of the line that carried the event. */
  push(event: AgentEvent, length: number): void;
  /** All records of a snapshot have arrived. */
  onSnapshotEnd(): void;
  /** The connection ended. */
  end(reason: ConnectionLost): void;
}
