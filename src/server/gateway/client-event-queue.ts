import { EventQueue, type OverflowPolicy } from '../../fanout/event-queue.ts';
import { formatToolUpdate } from '../../protocol/events/tool-output.ts';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { type Dialect, formatUpdate } from '../../wire/dialect.ts';
import { SessionRecord } from '../session-record.ts';

// Bytes in the socket beyond which records wait in the queue, where they can be merged.
const MAX_IN_SOCKET = 256 * 1024;

// Bytes that a waiting record costs beside its text.
const ITEM_COST = 128;

/** The sending side of a socket. */
export interface ByteSink {
  readonly bufferedAmount: number;
  send(bytes: Buffer, sent?: () => void): void;
}

/** A form of a record; `name` identifies its encoding. */
interface RecordForm {
  readonly name: string;
  readonly apply: (event: AgentEvent) => AgentEvent;
}

const AS_IS: RecordForm = { name: '', apply: (event) => event };

interface ClientEventQueueOptions {
  /** Another encoding for records that this client may see only in part. */
  readonly formFor: (record: SessionRecord) => RecordForm | undefined;
  readonly policy: OverflowPolicy;
  readonly onDrained: () => void;
}

/** The event queue of one client of the server. Records are encoded once for all clients. */
export type ClientEventQueue = EventQueue<SessionRecord, Buffer>;

export function clientEventQueue(sink: ByteSink, dialect: Dialect, options: ClientEventQueueOptions): ClientEventQueue {
  const { formFor, policy, onDrained } = options;
  return new EventQueue(payloadSink(sink), dialect, {
    policy,
    wrap: (event, like) => new SessionRecord(event, like && { seq: like.seq, messageSoFar: like.messageSoFar }),
    encode: (record, current) => {
      const { event, messageSoFar } = record;
      const { name, apply } = formFor(record) ?? AS_IS;
      if (event.type === 'message_update' && current.stream === 'cumulative' && messageSoFar) {
        return record.encodedAs(`cumulative${name}`, () => apply(formatUpdate(current, event, messageSoFar)));
      }
      if (event.type === 'tool_execution_update' && event.outputDelta !== undefined && current.toolOutput !== 'both') {
        const { toolOutput } = current;
        return record.encodedAs(`${toolOutput} output${name}`, () => apply(formatToolUpdate(toolOutput, event)));
      }
      return name === '' ? record.bytes : record.encodedAs(name, () => apply(event));
    },
    costOf: (record) => record.bytes.length,
    itemCost: ITEM_COST,
    isPaced: (event, { stream }) => stream === 'cumulative' && isDelta(event),
    onDrained,
  });
}

function payloadSink(sink: ByteSink) {
  let drained = () => {};
  return {
    write: (bytes: Buffer) => {
      const fits = sink.bufferedAmount + bytes.length <= MAX_IN_SOCKET;
      sink.send(bytes, fits ? undefined : () => drained());
      return fits;
    },
    onDrain: (listener: () => void) => {
      drained = listener;
    },
  };
}

const isDelta = (event: AgentEvent) => event.type === 'message_update' && 'delta' in event.assistantMessageEvent;
