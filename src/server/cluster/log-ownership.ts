import { setMaxListeners } from 'node:events';
import { Refusal } from '../../protocol/errors.ts';
import { NotOwner } from '../hosting/storage/journal.ts';
import type { Claim, Ownership } from '../hosting/storage/ownership.ts';
import { isUnanswered } from './append-outcome.ts';
import type { ClusterConnection } from './connection.ts';
import { FencedLog } from './fenced-log.ts';
import { isSameWriter, type RecordKind } from './log-record.ts';
import type { NodeIdentity } from './names.ts';
import type { NodeLease } from './node-lease.ts';

/** The life of this node, as far as an ownership depends on it. */
export type Life = Pick<NodeLease, 'identity' | 'lost' | 'isGone' | 'requestRelease'>;

/** A claim that is a record of the session's log: the next claim behind it ends it. */
export interface LogClaim extends Claim {
  readonly log: FencedLog;
  /** Whether the log was empty before. */
  readonly isFirst: boolean;
  /** Appends a record; a refusal because of another owner ends the claim. */
  append(kind: RecordKind, data: Uint8Array): Promise<number>;
  /** Ends the ownership and removes the log: the session holds nothing. */
  purge(): Promise<void>;
}

/** Ownership of sessions in a cluster: a claim is an append to the log of the session. */
export class LogOwnership implements Ownership {
  readonly #cluster: ClusterConnection;
  readonly #lease: Life;
  readonly #held = new Map<string, AbortController>();

  constructor(cluster: ClusterConnection, lease: Life) {
    this.#cluster = cluster;
    this.#lease = lease;
  }

  async claim(sessionId: string): Promise<LogClaim | undefined> {
    const { lost: leaseLost } = this.#lease;
    if (leaseLost.aborted) throw new Refusal('overloaded', 'This node cannot reach the cluster');
    if (this.#held.has(sessionId)) return undefined;
    const lost = new AbortController();
    this.#held.set(sessionId, lost);
    const lose = () => lost.abort();
    setMaxListeners(0, leaseLost);
    leaseLost.addEventListener('abort', lose, { once: true });
    const release = () => {
      leaseLost.removeEventListener('abort', lose);
      if (this.#held.get(sessionId) === lost) this.#held.delete(sessionId);
    };
    try {
      const log = new FencedLog(this.#cluster, sessionId, this.#lease.identity, () => lost.signal.aborted);
      if (await this.#take(log)) return this.#claimOf(log, { lost, release });
    } catch (error) {
      release();
      rethrowUnanswered(error);
    }
    release();
    return undefined;
  }

  /** The living node that owns a session, unless it is this one; waits until it is known whether it lives. */
  async ownerElsewhere(sessionId: string): Promise<NodeIdentity | undefined> {
    if (this.#held.has(sessionId)) return undefined;
    const last = await new FencedLog(this.#cluster, sessionId, this.#lease.identity)
      .readLast()
      .catch(rethrowUnanswered);
    if (!last || last.kind === 'release' || isSameWriter(last.writer, this.#lease.identity)) return undefined;
    return (await this.#lease.isGone(last.writer)) ? undefined : last.writer;
  }

  /** Appends the claim behind the last record, unless a living node owns the session and keeps it. */
  async #take(log: FencedLog): Promise<boolean> {
    const { identity } = this.#lease;
    let released: NodeIdentity | undefined;
    for (;;) {
      const last = await log.readLast();
      const isOwned = last !== undefined && last.kind !== 'release' && !isSameWriter(last.writer, identity);
      // A node that has released a session may have been unable to store that.
      const isFree = !isOwned || (released && isSameWriter(last.writer, released));
      if (!isFree && !(await this.#lease.isGone(last.writer))) {
        if (released || !(await this.#lease.requestRelease(last.writer, log.sessionId))) return false;
        released = last.writer;
        continue;
      }
      if (await log.claim(last)) return true;
    }
  }

  #claimOf(log: FencedLog, { lost, release }: { lost: AbortController; release: () => void }): LogClaim {
    const append = async (kind: RecordKind, data: Uint8Array) => {
      try {
        return await log.append(kind, data);
      } catch (error) {
        if (error instanceof NotOwner) lost.abort();
        throw error;
      }
    };
    let released: Promise<void> | undefined;
    return {
      token: log.token,
      isFirst: log.wasEmpty,
      lost: lost.signal,
      log,
      append,
      release: () => {
        released ??= append('release', new Uint8Array())
          .then(() => {})
          // Another owner needs no release.
          .catch(() => {})
          .finally(release);
        return released;
      },
      purge: async () => {
        // Records that remain in the log have no content.
        released ??= log
          .purge()
          .catch(() => {})
          .finally(release);
        await released;
      },
    };
  }
}

function rethrowUnanswered(error: unknown): never {
  throw isUnanswered(error) ? new Refusal('overloaded', 'The cluster does not respond') : error;
}
