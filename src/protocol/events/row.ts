import type { TProperties, TSchema } from 'typebox';
import { count, literal, object, optional } from '../schema.ts';

/** What the protocol says about one kind of record that tau sends unasked. */
export interface EventRow {
  readonly doc: string;
  readonly schema: TSchema;
}

export type EventTable = Readonly<Record<string, EventRow>>;

/** The server numbers what belongs to a session, so that a client can go on after the last one it had. */
export const sequenceNumber = { seq: optional(count('Only on a WebSocket, on what belongs to the session.')) };

/** A row whose record carries `type` and these fields. */
export const event = (type: string, doc: string, properties: TProperties = {}): EventRow => ({
  doc,
  schema: object({ type: literal(type), ...sequenceNumber, ...properties }, recordName(type)),
});

export const recordName = (type: string) =>
  `${type.replaceAll(/(^|_)([a-z])/g, (_match, _start, letter: string) => letter.toUpperCase())}Event`;
