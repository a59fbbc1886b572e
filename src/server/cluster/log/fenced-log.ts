import { setTimeout as delay } from 'node:timers/promises';
import type { StoredMsg } from '@nats-io/jetstream';
import { Refusal } from '../../../protocol/errors.ts';
import { NotOwner } from '../../hosting/storage/journal.ts';
import type { ClusterConnection } from '../connection.ts';
import { LOG_STREAM, logSubject, type NodeIdentity } from '../names.ts';
import type { ClusterObserver } from '../observer.ts';
import { appendFailure, isUnanswered } from './append-outcome.ts';
import {
  headersOf,
  isSameRecord,
  type RecordHead,
  RecordJoiner,
  type RecordKind,
  recordId,
  recordOf,
  type StoredRecord,
} from './log-record.ts';

// The largest piece of a record: the servers accept messages of 1 MiB with their headers.
const MAX_PIECE_BYTES = 960 * 1024;

// How long one try of an append, or a read, may take.
const LOG_REQUEST_MS = 2000;

const RETRY_DELAY_MS = 50;

const READ_BATCH = 500;
const MAX_READ_BYTES = 8 * 1024 * 1024;

// How long a read without progress tries the replicas, and after that the leader.
const REPLICA_WAIT_MS = 1000;
const LEADER_WAIT_MS = 10_000;

/** The log has lost records that were acknowledged: nothing may be appended until a person has looked at it. */
export class LogRegressed extends Error {
  override readonly name = 'LogRegressed';

  constructor(sessionId: string) {
    super(`The log of session ${sessionId} ends before records that it acknowledged`);
  }
}

/** The log refuses a record for good, for example because it is full. */
export class LogRefused extends Error {
  override readonly name = 'LogRefused';
}

let batches = 0;

interface FencedLogOptions {
  /** Appends are no longer tried again, because the ownership has ended. */
  readonly isGivenUp?: () => boolean;
  readonly observer?: ClusterObserver;
}

/** An append to the log of a session fails unless its writer knows the last record, so that an old owner cannot append. */
export class FencedLog {
  readonly sessionId: string;
  readonly #cluster: ClusterConnection;
  readonly #writer: NodeIdentity;
  readonly #isGivenUp: () => boolean;
  readonly #observer: ClusterObserver;
  /** The sequence number of the last record, as far as this writer knows. */
  #last = 0;
  #lastId = '';
  /** The sequence number of the claim under which records are appended. */
  #token = 0;
  #wasEmpty = false;
  #hasRegressed = false;
  /** The append in flight: there is one at most. */
  #appending: Promise<unknown> = Promise.resolve();

  constructor(
    cluster: ClusterConnection,
    sessionId: string,
    writer: NodeIdentity,
    { isGivenUp = () => false, observer = {} }: FencedLogOptions = {},
  ) {
    this.#cluster = cluster;
    this.sessionId = sessionId;
    this.#writer = writer;
    this.#isGivenUp = isGivenUp;
    this.#observer = observer;
  }

  get token(): number {
    return this.#token;
  }

  /** Whether the log was empty before the claim. */
  get wasEmpty(): boolean {
    return this.#wasEmpty;
  }

  get last(): number {
    return this.#last;
  }

  /** Identifies the record that this writer appended last. */
  get lastId(): string {
    return this.#lastId;
  }

  /** The last record according to the leader; undefined for an empty log. Only an append behind it proves that it is. */
  async readLast(): Promise<StoredRecord | undefined> {
    const message = await this.#cluster.manager.streams.getMessage(LOG_STREAM, {
      last_by_subj: logSubject(this.sessionId),
    });
    return message ? recordOf(message) : undefined;
  }

  /** Appends a claim behind a record, or to an empty log. Returns whether no other record was there first. */
  async claim(last: StoredRecord | undefined): Promise<boolean> {
    const head = this.#newHead('claim');
    this.#last = last?.seq ?? 0;
    try {
      const seq = await this.#append(head, new Uint8Array());
      this.#token = seq;
      this.#wasEmpty = last === undefined;
      return true;
    } catch (error) {
      if (error instanceof NotOwner) return false;
      throw error;
    }
  }

  /**
   * Appends a record, in pieces if it is long; returns its sequence number. Tries again until it is stored or another
   * owner has taken the log: then it rejects with `NotOwner`.
   */
  append(kind: RecordKind, data: Uint8Array): Promise<number> {
    const appended = this.#appending.then(() => this.#appendPieces(kind, data));
    this.#appending = appended.catch(() => {});
    return appended;
  }

  /** Removes all records, unless another owner has appended one: it may need those before. */
  async purge(): Promise<void> {
    if ((await this.readLast())?.seq !== this.#last) return;
    await this.#cluster.manager.streams.purge(LOG_STREAM, { filter: logSubject(this.sessionId), seq: this.#last + 1 });
  }

  /** The records after a sequence number, up to one that is known to be stored. */
  async *read(after: number, upTo: number): AsyncGenerator<StoredRecord> {
    let progressAt = performance.now();
    for (let last = after; last < upTo; ) {
      const before = last;
      // A replica that is behind or does not respond is passed over: the leader has everything.
      const source =
        performance.now() - progressAt < REPLICA_WAIT_MS ? this.#readSome(last + 1) : this.#readNext(last + 1);
      for await (const message of source) {
        if (message.seq > upTo) return;
        last = message.seq;
        yield recordOf(message);
      }
      if (last > before) progressAt = performance.now();
      else if (performance.now() - progressAt > LEADER_WAIT_MS)
        throw new Refusal('overloaded', 'The cluster does not respond');
      else await delay(RETRY_DELAY_MS);
    }
  }

  /** The first entries of the log, if there are any: their first line is the header of the session. */
  async readFirstEntries(): Promise<Uint8Array | undefined> {
    const last = await this.readLast();
    const joiner = new RecordJoiner();
    for await (const message of this.read(0, last?.seq ?? 0)) {
      const record = joiner.add(message);
      if (record?.kind === 'entries') return record.data;
    }
    return undefined;
  }

  async *#readSome(from: number): AsyncGenerator<StoredMsg> {
    const { reader, hasBatchReads } = this.#cluster;
    const query = { seq: from, next_by_subj: logSubject(this.sessionId) };
    try {
      if (hasBatchReads) {
        yield* await reader.direct.getBatch(LOG_STREAM, { ...query, batch: READ_BATCH, max_bytes: MAX_READ_BYTES });
      } else {
        const message = await reader.direct.getMessage(LOG_STREAM, query);
        if (message) yield message;
      }
    } catch (error) {
      if (!isUnanswered(error)) throw error;
    }
  }

  async *#readNext(from: number): AsyncGenerator<StoredMsg> {
    try {
      const query = { seq: from, next_by_subj: logSubject(this.sessionId) };
      const message = await this.#cluster.reader.streams.getMessage(LOG_STREAM, query);
      if (message) yield message;
    } catch (error) {
      if (!isUnanswered(error)) throw error;
    }
  }

  async #appendPieces(kind: RecordKind, data: Uint8Array): Promise<number> {
    const count = Math.ceil(data.length / MAX_PIECE_BYTES);
    const head = this.#newHead(kind);
    if (count <= 1) return this.#append(head, data);
    for (let index = 1; index <= count; index++) {
      const piece = data.subarray((index - 1) * MAX_PIECE_BYTES, index * MAX_PIECE_BYTES);
      await this.#append({ ...head, part: { index, count } }, piece);
    }
    return this.#last;
  }

  async #append(head: RecordHead, data: Uint8Array): Promise<number> {
    const startedAt = performance.now();
    for (;;) {
      if (this.#isGivenUp()) throw new NotOwner();
      if (this.#hasRegressed) throw new LogRegressed(this.sessionId);
      const seq = await this.#tryAppend(head, data);
      this.#observer.onAppend?.(seq === undefined ? 'unanswered' : 'stored');
      if (seq !== undefined) {
        this.#observer.onStored?.((performance.now() - startedAt) / 1000);
        this.#last = seq;
        this.#lastId = recordId(head);
        return seq;
      }
      await delay(RETRY_DELAY_MS);
    }
  }

  /** Returns the sequence number of the stored record; undefined if the same try must be repeated. */
  async #tryAppend(head: RecordHead, data: Uint8Array): Promise<number | undefined> {
    try {
      const { seq } = await this.#cluster.js.publish(logSubject(this.sessionId), data, {
        headers: headersOf(head),
        expect: { lastSubjectSequence: this.#last },
        timeout: LOG_REQUEST_MS,
        retries: 0,
      });
      return seq;
    } catch (error) {
      const failure = appendFailure(error);
      if (failure === 'refused') {
        this.#observer.onAppend?.('refused');
        throw new LogRefused(`The log refuses a record: ${(error as Error).message}`);
      }
      return failure === 'conflict' ? this.#afterConflict(head) : undefined;
    }
  }

  /** An earlier try of this record may have been stored, or still be in flight; otherwise another owner has the log. */
  async #afterConflict(head: RecordHead): Promise<number | undefined> {
    let stored: StoredRecord | undefined;
    try {
      stored = await this.readLast();
    } catch (error) {
      if (isUnanswered(error)) return undefined;
      throw error;
    }
    if (stored && isSameRecord(stored, head)) return stored.seq;
    const last = stored?.seq ?? 0;
    if (last === this.#last) return undefined;
    // An empty session that another node has released leaves an empty log.
    const isPurged = head.kind === 'claim' && !stored;
    if (last < this.#last && !isPurged) {
      this.#hasRegressed = true;
      this.#observer.onAppend?.('regressed');
      throw this.reportRegressed();
    }
    this.#observer.onAppend?.('conflict');
    if (stored && head.kind !== 'claim') this.#observer.onDeposed?.(this.sessionId, stored.writer);
    throw new NotOwner();
  }

  /** The writer of a later claim, if the last record is not of this one. */
  async findSuccessor(): Promise<NodeIdentity | undefined> {
    const last = await this.readLast();
    const token = last?.kind === 'claim' ? last.seq : (last?.token ?? 0);
    return token > this.#token ? last?.writer : undefined;
  }

  /** Reports that the log lacks records that it acknowledged; returns the error to throw. */
  reportRegressed(): LogRegressed {
    this.#observer.onRegressed?.(this.sessionId);
    return new LogRegressed(this.sessionId);
  }

  #newHead(kind: RecordKind): RecordHead {
    return { kind, writer: this.#writer, token: kind === 'claim' ? 0 : this.#token, batch: ++batches };
  }
}
