import type { AgentEvent } from '../protocol/generated/vocabulary.ts';
import type { ConnectionLost } from './connection-lost.ts';

/** Whoever keeps events for later, and has to know how much that is. */
export interface EventConsumer {
  /** `length` is that of the line in which the event came. */
  push(event: AgentEvent, length: number): void;
  /** After a snapshot: everything that belongs to it was told. */
  onSnapshotEnd(): void;
  /** The agent is gone. */
  end(reason: ConnectionLost): void;
}
