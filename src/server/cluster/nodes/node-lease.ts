import { setTimeout as delay } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { errors, type Msg, type Subscription } from '@nats-io/transport-node';
import { newUuid } from '../../../store/sessions/random-id.ts';
import { type ClusterConnection, ClusterUnusable, throwIfForbidden } from '../connection.ts';
import { appendFailure, isUnanswered } from '../log/append-outcome.ts';
import { CLUSTER_PROTOCOL, NODES_BUCKET, type NodeIdentity, nodeSubject } from '../names.ts';
import type { NodeFacts, NodeKey } from './node-facts.ts';

/** How a node proves that it is alive, and when others may take its sessions. */
export interface LeaseTimes {
  readonly renewMs: number;
  /** Without a renewal for this long the node gives up everything. */
  readonly stopMs: number;
  /** How long no process may listen to a node before it counts as dead. */
  readonly silenceMs: number;
}

/**
 * The times that follow from the lifetime of a node's key, which all nodes of a cluster have in common. A node stops before
 * its key is gone.
 */
export const leaseTimes = (keyLifeMs: number): LeaseTimes => ({
  renewMs: 0.15 * keyLifeMs,
  stopMs: 0.75 * keyLifeMs,
  silenceMs: 0.15 * keyLifeMs,
});

// How long one renewal may take before it is tried again.
const LEASE_RENEW_MS = 1000;

// How long a node that was gone counts as gone: opening a session needs to know it several times.
const GONE_MS = 10_000;

// Renewals without an answer after which a node accepts no new clients.
const MAX_MISSED_RENEWALS = 2;

// How often changed facts reach the other nodes at most, beside the renewals.
const FACTS_INTERVAL_MS = 1000;

const CHECK_INTERVAL_MS = 250;
const NODE_PROBE_MS = 500;
const PROBE_DELAY_MS = 100;

const ALIVE = 'alive';
const RELEASE = 'release';

// How long another node may take to park an idle session.
const RELEASE_TIMEOUT_MS = 10_000;

interface LeaseOptions {
  readonly name: string;
  /** The state of this node at the moment of a renewal. */
  readonly facts: () => NodeFacts;
  /** By default they follow from the lifetime of the keys. */
  readonly times?: LeaseTimes;
}

/**
 * The life of a node in a cluster: a key that it renews, and a subject on which it responds. After a loss it begins a new
 * life as soon as the cluster responds again: with another incarnation, and without the sessions of the old one.
 */
export class NodeLease {
  readonly #name: string;
  readonly #cluster: ClusterConnection;
  readonly #bucket: KV;
  readonly #facts: () => NodeFacts;
  readonly #times: LeaseTimes;
  #identity: NodeIdentity;
  #lost = new AbortController();
  #timers: NodeJS.Timeout[] = [];
  #subscriptions: readonly Subscription[] = [];
  #onReleaseRequest: (sessionId: string) => Promise<boolean> = async () => false;
  #isReleased = false;
  /** The incarnations that were gone, and until when that is not checked again. */
  readonly #goneUntil = new Map<string, number>();
  /** Since when probes find no process that listens to a node, and until when, by incarnation. */
  readonly #silences = new Map<string, { readonly since: number; readonly until: number }>();
  #onLife: (change: 'lost' | 'begun') => void = () => {};
  /** The start of the last renewal that was answered, on the monotonic clock. */
  #renewedAt = performance.now();
  #revision = 0;
  #renewal: Promise<void> | undefined;
  /** Whether the facts have changed since the running renewal began. */
  #isOutdated = false;
  /** Renewals without an answer since the last one that was answered. */
  #missedRenewals = 0;
  /** The facts that others know of this node. */
  #published = '';

  private constructor(cluster: ClusterConnection, bucket: KV, { name, facts, times }: Required<LeaseOptions>) {
    this.#cluster = cluster;
    this.#bucket = bucket;
    this.#facts = facts;
    this.#times = times;
    this.#name = name;
    this.#identity = { name, incarnation: newUuid() };
  }

  /** Takes the name of a node; a predecessor of the same name must be dead. */
  static async take(cluster: ClusterConnection, options: LeaseOptions): Promise<NodeLease> {
    const bucket = await new Kvm(jetstream(cluster.nats, { timeout: LEASE_RENEW_MS })).open(NODES_BUCKET);
    const { times = leaseTimes((await bucket.status()).ttl) } = options;
    const lease = new NodeLease(cluster, bucket, { ...options, times });
    try {
      await lease.#begin();
    } catch (error) {
      // Its key may be stored all the same: then the next try must not find it alive.
      lease.#stop();
      throw error;
    }
    return lease;
  }

  get identity(): NodeIdentity {
    return this.#identity;
  }

  /** Whether the cluster has not answered several renewals: the lease may end soon. */
  get isLate(): boolean {
    return this.#missedRenewals >= MAX_MISSED_RENEWALS;
  }

  /** The time since the last renewal that was answered. */
  get ageMs(): number {
    return performance.now() - this.#renewedAt;
  }

  /** Aborts when this node may no longer own what it owns now. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** The handler releases a session that this node serves, if it is idle and without clients; it returns whether it did. */
  onReleaseRequest(handler: (sessionId: string) => Promise<boolean>): void {
    this.#onReleaseRequest = handler;
  }

  /** The listener is called when this node has lost its lease, and when it has begun again. */
  onLife(listener: (change: 'lost' | 'begun') => void): void {
    this.#onLife = listener;
  }

  /** Requests a session from the node that owns it; returns whether that node has released it. */
  async requestRelease(node: NodeIdentity, sessionId: string): Promise<boolean> {
    try {
      const timeout = RELEASE_TIMEOUT_MS;
      return (
        (await this.#cluster.nats.request(nodeSubject(node, RELEASE), sessionId, { timeout })).string() === 'released'
      );
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      return false;
    }
  }

  /** Whether a node that owned sessions is dead; waits until that is known.  */
  async isGone(node: NodeIdentity): Promise<boolean> {
    const known = this.#goneUntil.get(node.incarnation) ?? 0;
    const isGone = performance.now() < known || (await this.#awaitSilence(node));
    if (isGone) this.#goneUntil.set(node.incarnation, performance.now() + GONE_MS);
    return isGone;
  }

  async #awaitSilence(node: NodeIdentity): Promise<boolean> {
    for (;;) {
      const key = await this.#readKey(node.name).catch(unlessUnanswered);
      if (key === 'missing' || (key && key.incarnation !== node.incarnation)) return true;
      // Such a node listens to other subjects: only its key shows that it is alive.
      if (key && key.protocol !== CLUSTER_PROTOCOL) return false;
      const outcome = await this.probe(node);
      if (outcome === 'alive') return false;
      if ((await this.probe(this.#identity)) !== 'alive') this.#silences.delete(node.incarnation);
      const { since = performance.now() } = this.#silences.get(node.incarnation) ?? {};
      if (performance.now() - since >= this.#times.silenceMs) return true;
      await delay(PROBE_DELAY_MS);
    }
  }

  /** Removes the key, so that others need not wait. */
  async release(): Promise<void> {
    this.#isReleased = true;
    this.#stop();
    // It changes the revision of the key.
    await this.#renewal;
    if (!this.#lost.signal.aborted)
      await this.#bucket.delete(this.#name, { previousSeq: this.#revision }).catch(() => {});
  }

  async #begin(): Promise<void> {
    const { nats } = this.#cluster;
    const release = async (message: Msg) => {
      const isReleased = await this.#onReleaseRequest(message.string()).catch(() => false);
      message.respond(isReleased ? 'released' : 'kept');
    };
    this.#subscriptions = [
      nats.subscribe(nodeSubject(this.#identity, ALIVE), { callback: (_, message) => void message.respond() }),
      nats.subscribe(nodeSubject(this.#identity, RELEASE), { callback: (_, message) => void release(message) }),
    ];
    await this.#takeKey();
    const { renewMs } = this.#times;
    this.#timers = [
      setInterval(() => void this.#renew(), renewMs).unref(),
      setInterval(() => this.#checkAge(), Math.min(CHECK_INTERVAL_MS, renewMs)).unref(),
      setInterval(() => this.#publishChanges(), FACTS_INTERVAL_MS).unref(),
    ];
  }

  /** Takes the name again when the cluster responds. */
  async #beginAgain(): Promise<void> {
    while (!this.#isReleased && !this.#cluster.nats.isClosed()) {
      await delay(this.#times.renewMs);
      const lost = this.#lost;
      try {
        this.#identity = { name: this.#name, incarnation: newUuid() };
        await this.#begin();
        if (this.#lost === lost) this.#lost = new AbortController();
        this.#onLife('begun');
        return;
      } catch {
        this.#unsubscribe();
      }
    }
  }

  async #takeKey(): Promise<void> {
    const { name } = this.#identity;
    for (;;) {
      const entry = await this.#bucket.get(name);
      const holder = entry?.operation === 'PUT' ? entry.json<NodeKey>() : undefined;
      if (holder && !(await this.isGone({ name, incarnation: holder.incarnation })))
        throw new ClusterUnusable(`A node with the name ${name} is running: choose another one with --node`);
      this.#renewedAt = performance.now();
      try {
        await this.#write(entry?.revision ?? 0);
        return;
      } catch (error) {
        throwIfForbidden(error);
        if (appendFailure(error) !== 'conflict') throw error;
      }
    }
  }

  async #write(revision: number): Promise<void> {
    const facts = this.#facts();
    const key: NodeKey = { incarnation: this.#identity.incarnation, ...facts };
    this.#revision = await this.#bucket.put(this.#name, JSON.stringify(key), { previousSeq: revision });
    this.#published = JSON.stringify(facts);
    this.#missedRenewals = 0;
  }

  #publishChanges(): void {
    if (JSON.stringify(this.#facts()) !== this.#published) this.publish();
  }

  /** Renews the key at once, because the facts have changed. */
  publish(): void {
    if (this.#renewal !== undefined) this.#isOutdated = true;
    else void this.#renew();
  }

  async #renew(): Promise<void> {
    if (this.#renewal || this.#isReleased || this.#lost.signal.aborted || this.#cluster.nats.isClosed()) return;
    this.#isOutdated = false;
    this.#renewal = this.#tryRenewal();
    await this.#renewal;
    this.#renewal = undefined;
    if (this.#isOutdated) this.#renewSoon();
  }

  async #tryRenewal(): Promise<void> {
    const startedAt = performance.now();
    try {
      await this.#write(this.#revision);
      this.#renewedAt = startedAt;
    } catch (error) {
      if (appendFailure(error) === 'conflict') await this.#afterConflict();
      else this.#missRenewal();
    }
  }

  /** A renewal that is not known to be stored is repeated at once: short failures must not add up. */
  #missRenewal(): void {
    this.#missedRenewals++;
    this.#renewSoon();
  }

  #renewSoon(): void {
    setTimeout(() => void this.#renew(), PROBE_DELAY_MS).unref();
  }

  /**
   * An earlier renewal without an answer may have been stored, at an unknown time: the key is renewed behind it at once. A
   * key that is missing or another's ends the lease.
   */
  async #afterConflict(): Promise<void> {
    try {
      const entry = await this.#bucket.get(this.#name);
      const key = entry?.operation === 'PUT' ? entry.json<NodeKey>() : undefined;
      if (!entry || key?.incarnation !== this.#identity.incarnation) {
        this.#lose();
        return;
      }
      this.#revision = entry.revision;
      this.#renewSoon();
    } catch {
      this.#missRenewal();
    }
  }

  #checkAge(): void {
    if (this.ageMs > this.#times.stopMs) this.#lose();
  }

  #lose(): void {
    if (this.#lost.signal.aborted) return;
    this.#stop();
    this.#lost.abort();
    this.#onLife('lost');
    void this.#beginAgain();
  }

  #stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#unsubscribe();
  }

  #unsubscribe(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
  }

  async #readKey(name: string): Promise<NodeKey | 'missing'> {
    const entry = await this.#bucket.get(name);
    return entry?.operation === 'PUT' ? entry.json<NodeKey>() : 'missing';
  }

  /** Whether a node responds; `silent` if no process listens to it. */
  async probe(node: NodeIdentity): Promise<'alive' | 'silent' | 'unknown'> {
    const outcome = await this.#ping(node);
    this.#recordSilence(node, outcome === 'silent');
    return outcome;
  }

  /** Probes that are too far apart prove no silence between them. */
  #recordSilence({ incarnation }: NodeIdentity, isSilent: boolean): void {
    const now = performance.now();
    const known = this.#silences.get(incarnation);
    const isContinued = known !== undefined && now - known.until < this.#times.silenceMs;
    if (isSilent) this.#silences.set(incarnation, { since: isContinued ? known.since : now, until: now });
    else this.#silences.delete(incarnation);
  }

  async #ping(node: NodeIdentity): Promise<'alive' | 'silent' | 'unknown'> {
    try {
      await this.#cluster.nats.request(nodeSubject(node, ALIVE), '', { timeout: NODE_PROBE_MS });
      return 'alive';
    } catch (error) {
      return isNoResponders(error) ? 'silent' : 'unknown';
    }
  }
}

const isNoResponders = (error: unknown): boolean => error instanceof errors.RequestError && error.isNoResponders();

function unlessUnanswered(error: unknown): undefined {
  if (!isUnanswered(error)) throw error;
}
