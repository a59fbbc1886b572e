import { formatToolUpdate } from '../protocol/events/tool-output.ts';
import type { AgentEvent } from '../protocol/generated/vocabulary.ts';
import { type Dialect, formatUpdate } from '../wire/dialect.ts';
import { toLine } from '../wire/json-lines.ts';
import type { Link } from '../wire/link.ts';
import { EventQueue, type QueuedEvent } from './event-queue.ts';

/** Text that may wait for a slow reader before the run pauses. */
export const MAX_BACKLOG = 1024 * 1024;

// Updates that may wait unmerged for a slow reader: each may repeat the whole assistant message.
const MAX_UPDATES = 8;

/** The event queue of a client that reads JSON lines. A slow reader pauses the run. */
export type LineQueue = EventQueue<QueuedEvent, string>;

export function lineQueue(link: Pick<Link, 'write' | 'onDrain'>, dialect: Dialect): LineQueue {
  return new EventQueue(link, dialect, {
    policy: { kind: 'pause', maxBacklog: MAX_BACKLOG, maxUpdates: MAX_UPDATES },
    wrap: (event, like) => ({ event, snapshot: like?.snapshot }),
    encode: (queued, current) => toLine(inDialect(queued, current)),
    costOf: ({ event }) => (event.type === 'tool_execution_update' ? event.outputDelta : deltaOf(event))?.length ?? 0,
    itemCost: 0,
    isPaced: (event) => event.type === 'tool_execution_update' || deltaOf(event) !== undefined,
  });
}

function inDialect({ event, snapshot }: QueuedEvent, dialect: Dialect): AgentEvent {
  if (event.type === 'tool_execution_update') return formatToolUpdate(dialect.toolOutput, event);
  return event.type === 'message_update' && snapshot ? formatUpdate(dialect, event, snapshot) : event;
}

function deltaOf(event: AgentEvent): string | undefined {
  if (event.type !== 'message_update') return undefined;
  return 'delta' in event.assistantMessageEvent ? event.assistantMessageEvent.delta : undefined;
}
