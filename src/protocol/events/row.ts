import type { TProperties, TSchema } from 'typebox';
import { count, literal, object, optional, text } from '../schema.ts';

/** The contract of one event. */
export interface EventRow {
  readonly doc: string;
  readonly schema: TSchema;
}

export type EventTable = Readonly<Record<string, EventRow>>;

/** The server numbers the records of a session, so that a client can resume after the last one it received. */
export const sequenceNumber = { seq: optional(count('Only on a WebSocket, on records of the session.')) };

/** Only after hello `ids:true`. Some events have one of them always. */
export const eventIds = { sessionId: optional(text()), runId: optional(text()) };

/** A row whose record carries `type` and these fields. */
export const event = (type: string, doc: string, properties: TProperties = {}): EventRow => ({
  doc,
  schema: object({ type: literal(type), ...sequenceNumber, ...eventIds, ...properties }, recordName(type)),
});

export const recordName = (type: string) =>
  `${type.replaceAll(/(^|_)([a-z])/g, (_match, _start, letter: string) => letter.toUpperCase())}Event`;
