import { headers, type MsgHdrs } from '@nats-io/transport-node';
import type { NodeIdentity } from '../names.ts';

const RECORD_KINDS = ['claim', 'release', 'entries', 'mark', 'trash', 'restore'] as const;

/**
 * The kinds of records: the begin and end of an ownership, lines of the session file, the runs of the session, and moves
 * into and out of the trash.
 */
export type RecordKind = (typeof RECORD_KINDS)[number];

/** A piece of a record that is longer than one message. */
interface Part {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

/** The headers of a message in the log of a session. */
export interface RecordHead {
  readonly kind: RecordKind;
  readonly writer: NodeIdentity;
  /** The sequence number of the claim under which it was written; 0 in a claim. */
  readonly token: number;
  /** Counts up with every record that the writer appends; with the writer it identifies the record. */
  readonly batch: number;
  readonly part?: Part | undefined;
}

/** A message in the log of a session. */
export interface StoredRecord extends RecordHead {
  readonly seq: number;
  readonly data: Uint8Array;
}

const KIND = 'Tau-Kind';
const NODE = 'Tau-Node';
const INCARNATION = 'Tau-Incarnation';
const TOKEN = 'Tau-Token';
const BATCH = 'Tau-Batch';
const PART = 'Tau-Part';

export function headersOf({ kind, writer, token, batch, part }: RecordHead): MsgHdrs {
  const result = headers();
  result.set(KIND, kind);
  result.set(NODE, writer.name);
  result.set(INCARNATION, writer.incarnation);
  result.set(TOKEN, String(token));
  result.set(BATCH, String(batch));
  if (part) result.set(PART, `${part.index}/${part.count}`);
  return result;
}

interface Message {
  readonly seq: number;
  readonly header: MsgHdrs;
  readonly data: Uint8Array;
}

/** Throws for a message that tau of this version did not write: a log that is not understood must not be continued. */
export function recordOf({ seq, header, data }: Message): StoredRecord {
  const kind = RECORD_KINDS.find((known) => known === header.get(KIND));
  const token = Number(header.get(TOKEN));
  const batch = Number(header.get(BATCH));
  if (kind === undefined || !Number.isSafeInteger(token) || !Number.isSafeInteger(batch))
    throw new Error(`Record ${seq} of the log has an unknown form: ${header.get(KIND) || 'without a kind'}`);
  const [index = 0, count = 0] = header.get(PART).split('/').map(Number);
  return {
    seq,
    kind,
    writer: { name: header.get(NODE), incarnation: header.get(INCARNATION) },
    token,
    batch,
    ...(count > 0 ? { part: { index, count } } : {}),
    data,
  };
}

export const isSameWriter = (one: NodeIdentity, other: NodeIdentity): boolean =>
  one.name === other.name && one.incarnation === other.incarnation;

export const isSameRecord = (stored: StoredRecord, head: RecordHead): boolean =>
  isSameWriter(stored.writer, head.writer) && stored.batch === head.batch && stored.part?.index === head.part?.index;

/** Identifies a record beyond its number: after an old state of the log was restored, other records get the same numbers. */
export const recordId = ({ writer, batch }: RecordHead): string => `${writer.incarnation}.${batch}`;

/** A record whose pieces are joined. */
export interface WholeRecord extends Omit<StoredRecord, 'part'> {
  /** The sequence number of its first piece. */
  readonly firstSeq: number;
}

/**
 * Joins the pieces of records. Pieces that another record follows before the last of them were never acknowledged and
 * count as never written.
 */
export class RecordJoiner {
  #pieces: StoredRecord[] = [];

  /** Returns the record that this message completes, if it does. */
  add(message: StoredRecord): WholeRecord | undefined {
    const { part, ...record } = message;
    if (!part) {
      this.#pieces = [];
      return { ...record, firstSeq: record.seq };
    }
    const [first] = this.#pieces;
    const continues =
      first && isSameRecord(first, { ...message, part: first.part }) && part.index === this.#pieces.length + 1;
    if (part.index === 1) this.#pieces = [message];
    else if (continues) this.#pieces.push(message);
    else this.#pieces = [];
    if (part.index !== part.count || this.#pieces.length !== part.count) return undefined;
    const firstSeq = this.#pieces[0]?.seq ?? message.seq;
    const data = Buffer.concat(this.#pieces.map((piece) => piece.data));
    this.#pieces = [];
    return { ...record, data, firstSeq };
  }
}
