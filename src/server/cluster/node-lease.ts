import { jetstream } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { errors, type Msg, type Subscription } from '@nats-io/transport-node';
import { newUuid } from '../../store/sessions/random-id.ts';
import { isUnanswered } from './append-outcome.ts';
import { type ClusterConnection, ClusterUnusable } from './connection.ts';
import { NODES_BUCKET, type NodeIdentity, nodeSubject } from './names.ts';

/** How a node proves that it is alive, and when others may take its sessions. */
export interface LeaseTimes {
  readonly renewMs: number;
  /** Without a renewal for this long the node gives up everything. */
  readonly stopMs: number;
  /** How long no process may listen to a node before it counts as dead. */
  readonly silenceMs: number;
}

/** Longer than an election of the NATS servers takes, so that their failure ends no lease. */
export const LEASE_TIMES: LeaseTimes = { renewMs: 3000, stopMs: 15_000, silenceMs: 3000 };

/** The lifetime of a key that is not renewed: longer than `stopMs`, so that a node stops before others take over. */
export const NODE_KEY_TTL_MS = 20_000;

// How long one renewal may take before it is tried again.
const LEASE_RENEW_MS = 1000;

// How long a node that was gone counts as gone: opening a session needs to know it several times.
const GONE_MS = 10_000;

const CHECK_INTERVAL_MS = 250;
const NODE_PROBE_MS = 500;
const PROBE_DELAY_MS = 100;

const ALIVE = 'alive';
const RELEASE = 'release';

// How long another node may take to park an idle session.
const RELEASE_TIMEOUT_MS = 10_000;

/** The facts that a node publishes about itself. */
export interface NodeInfo {
  readonly version: string;
}

interface NodeKey extends NodeInfo {
  readonly incarnation: string;
}

interface LeaseOptions extends NodeInfo {
  readonly name: string;
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
  readonly #info: NodeInfo;
  readonly #times: LeaseTimes;
  #identity: NodeIdentity;
  #lost = new AbortController();
  #timers: NodeJS.Timeout[] = [];
  #subscriptions: readonly Subscription[] = [];
  #onReleaseRequest: (sessionId: string) => Promise<boolean> = async () => false;
  #isReleased = false;
  /** The incarnations that were gone, and until when that is not checked again. */
  readonly #goneUntil = new Map<string, number>();
  #onLife: (change: 'lost' | 'begun') => void = () => {};
  /** The start of the last renewal that was answered, on the monotonic clock. */
  #renewedAt = performance.now();
  #revision = 0;
  #isRenewing = false;

  private constructor(cluster: ClusterConnection, bucket: KV, { name, version, times = LEASE_TIMES }: LeaseOptions) {
    this.#cluster = cluster;
    this.#bucket = bucket;
    this.#info = { version };
    this.#times = times;
    this.#name = name;
    this.#identity = { name, incarnation: newUuid() };
  }

  /** Takes the name of a node; a predecessor of the same name must be dead. */
  static async take(cluster: ClusterConnection, options: LeaseOptions): Promise<NodeLease> {
    const lease = new NodeLease(
      cluster,
      await new Kvm(jetstream(cluster.nats, { timeout: LEASE_RENEW_MS })).open(NODES_BUCKET),
      options,
    );
    await lease.#begin();
    return lease;
  }

  get identity(): NodeIdentity {
    return this.#identity;
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
    let silentSince: number | undefined;
    for (;;) {
      const key = await this.#readKey(node.name).catch(unlessUnanswered);
      if (key === 'missing' || (key && key.incarnation !== node.incarnation)) return true;
      const outcome = await this.probe(node);
      if (outcome === 'alive') return false;
      const isConnected = outcome === 'silent' && (await this.probe(this.#identity)) === 'alive';
      silentSince = isConnected ? (silentSince ?? performance.now()) : undefined;
      if (silentSince !== undefined && performance.now() - silentSince >= this.#times.silenceMs) return true;
      await delay(PROBE_DELAY_MS);
    }
  }

  /** Removes the key, so that others need not wait. */
  async release(): Promise<void> {
    this.#isReleased = true;
    this.#stop();
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
        this.#revision = await this.#write(entry?.revision ?? 0);
        return;
      } catch (error) {
        if (isUnanswered(error)) throw error;
      }
    }
  }

  #write(revision: number): Promise<number> {
    const key: NodeKey = { incarnation: this.#identity.incarnation, ...this.#info };
    return this.#bucket.put(this.#name, JSON.stringify(key), { previousSeq: revision });
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing || this.#lost.signal.aborted || this.#cluster.nats.isClosed()) return;
    this.#isRenewing = true;
    const startedAt = performance.now();
    try {
      this.#revision = await this.#write(this.#revision);
      this.#renewedAt = startedAt;
    } catch (error) {
      if (!isUnanswered(error)) await this.#afterConflict(startedAt);
      else this.#renewSoon();
    } finally {
      this.#isRenewing = false;
    }
  }

  /** A renewal without an answer is repeated at once: short failures must not add up. */
  #renewSoon(): void {
    setTimeout(() => void this.#renew(), PROBE_DELAY_MS).unref();
  }

  /** An earlier renewal without an answer may have been stored. A key that is missing or another's ends the lease. */
  async #afterConflict(startedAt: number): Promise<void> {
    try {
      const entry = await this.#bucket.get(this.#name);
      const key = entry?.operation === 'PUT' ? entry.json<NodeKey>() : undefined;
      if (!entry || key?.incarnation !== this.#identity.incarnation) {
        this.#lose();
        return;
      }
      this.#revision = entry.revision;
      this.#renewedAt = startedAt;
    } catch {
      this.#renewSoon();
    }
  }

  #checkAge(): void {
    if (performance.now() - this.#renewedAt > this.#times.stopMs) this.#lose();
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

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
