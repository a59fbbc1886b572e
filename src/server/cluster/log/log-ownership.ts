import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Refusal } from '../../../protocol/errors.ts';
import { CoalescedTask } from '../../../system/coalesced-task.ts';
import { NotOwner } from '../../hosting/storage/journal.ts';
import type { Claim, Ownership } from '../../hosting/storage/ownership.ts';
import type { ClusterConnection } from '../connection.ts';
import type { NodeIdentity } from '../names.ts';
import type { NodeLease } from '../nodes/node-lease.ts';
import type { ClusterObserver } from '../observer.ts';
import { isUnanswered } from './append-outcome.ts';
import { FencedLog } from './fenced-log.ts';
import { isSameWriter, type RecordKind } from './log-record.ts';

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

interface Held {
  readonly log: FencedLog;
  readonly lost: AbortController;
}

// How long a check of a held session waits after a read without an answer.
const HELD_CHECK_DELAY_MS = 250;

/** The nodes that a log names. */
interface LogPosition {
  readonly owner: NodeIdentity | undefined;
  /** Undefined for an empty log. */
  readonly lastNode: string | undefined;
}

/** Ownership of sessions in a cluster: a claim is an append to the log of the session. */
export class LogOwnership implements Ownership {
  readonly #cluster: ClusterConnection;
  readonly #lease: Life;
  readonly #observer: ClusterObserver;
  readonly #held = new Map<string, Held>();
  readonly #heldCheck = new CoalescedTask(() => this.#checkHeld());

  constructor(cluster: ClusterConnection, lease: Life, observer: ClusterObserver = {}) {
    this.#cluster = cluster;
    this.#lease = lease;
    this.#observer = observer;
  }

  /**
   * Gives up the sessions that another owner has claimed. Call when the connection was interrupted. Rejects if a log cannot
   * be read, after all others were checked.
   */
  async checkHeld(): Promise<void> {
    await this.#heldCheck.run();
  }

  async #checkHeld(): Promise<void> {
    const failures: unknown[] = [];
    for (const [sessionId, held] of [...this.#held]) {
      const isHeld = () => this.#held.get(sessionId) === held && !held.lost.signal.aborted;
      try {
        while (isHeld() && !(await this.#checkOne(held))) await delay(HELD_CHECK_DELAY_MS);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Returns whether the cluster has answered. */
  async #checkOne({ log, lost }: Held): Promise<boolean> {
    try {
      const successor = log.token > 0 ? await log.findSuccessor() : undefined;
      if (successor && !lost.signal.aborted) {
        lost.abort();
        this.#observer.onDeposed?.(log.sessionId, successor);
      }
      return true;
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      return this.#cluster.nats.isClosed();
    }
  }

  async claim(sessionId: string): Promise<LogClaim | undefined> {
    const { lost: leaseLost } = this.#lease;
    if (leaseLost.aborted) throw unreachable();
    if (this.#held.has(sessionId)) return undefined;
    const lost = new AbortController();
    const isGivenUp = () => lost.signal.aborted;
    const log = new FencedLog(this.#cluster, sessionId, this.#lease.identity, { isGivenUp, observer: this.#observer });
    const held = { log, lost };
    this.#held.set(sessionId, held);
    const lose = () => lost.abort();
    setMaxListeners(0, leaseLost);
    leaseLost.addEventListener('abort', lose, { once: true });
    const release = () => {
      leaseLost.removeEventListener('abort', lose);
      if (this.#held.get(sessionId) === held) this.#held.delete(sessionId);
    };
    try {
      if (await this.#take(log, lost.signal)) return this.#claimOf(log, { lost, release });
    } catch (error) {
      release();
      rethrowUnanswered(error);
    }
    release();
    return undefined;
  }

  /**
   * The living node that owns a session, unless it is this one, and the node that had it last. Waits until it is known
   * whether the owner lives.
   */
  async positionOf(sessionId: string): Promise<LogPosition> {
    const { identity } = this.#lease;
    if (this.#held.has(sessionId)) return { owner: undefined, lastNode: identity.name };
    const last = await new FencedLog(this.#cluster, sessionId, identity).readLast().catch(rethrowUnanswered);
    const lastNode = last?.writer.name;
    if (!last || last.kind === 'release' || isSameWriter(last.writer, identity)) return { owner: undefined, lastNode };
    return { owner: (await this.#lease.isGone(last.writer)) ? undefined : last.writer, lastNode };
  }

  /** Appends the claim behind the last record, unless a living node owns the session and keeps it. */
  async #take(log: FencedLog, lost: AbortSignal): Promise<boolean> {
    const { identity } = this.#lease;
    let released: NodeIdentity | undefined;
    for (;;) {
      if (lost.aborted) throw unreachable();
      const last = await log.readLast();
      const isOwned = last !== undefined && last.kind !== 'release' && !isSameWriter(last.writer, identity);
      // A node that has released a session may have been unable to store that.
      const isFree = !isOwned || (released && isSameWriter(last.writer, released));
      if (!isFree && !(await this.#lease.isGone(last.writer))) {
        if (released || !(await this.#lease.requestRelease(last.writer, log.sessionId))) return false;
        released = last.writer;
        continue;
      }
      if (!(await log.claim(last))) continue;
      if (last && !isSameWriter(last.writer, identity))
        this.#observer.onTakeover?.(log.sessionId, last.writer, isFree ? 'release' : 'gone');
      return true;
    }
  }

  #claimOf(log: FencedLog, { lost, release }: { lost: AbortController; release: () => void }): LogClaim {
    let released: Promise<void> | undefined;
    const append = async (kind: RecordKind, data: Uint8Array) => {
      // Nothing may follow the release, or what a purge has left.
      if (released !== undefined) throw new NotOwner();
      try {
        return await log.append(kind, data);
      } catch (error) {
        if (error instanceof NotOwner) lost.abort();
        throw error;
      }
    };
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

const unreachable = () => new Refusal('overloaded', 'This node cannot reach the cluster');

function rethrowUnanswered(error: unknown): never {
  throw isUnanswered(error) ? new Refusal('overloaded', 'The cluster does not respond') : error;
}
