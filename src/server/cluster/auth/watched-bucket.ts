import { setTimeout as delay } from 'node:timers/promises';
import { type KV, Kvm, type KvWatchEntry } from '@nats-io/kv';
import { Refusal } from '../../../protocol/errors.ts';
import { type ClusterConnection, throwIfForbidden } from '../connection.ts';
import { appendFailure } from '../log/append-outcome.ts';
import { bucketStream } from '../names.ts';

/** A value of a bucket, as it was written last. */
export interface BucketValue {
  readonly key: string;
  readonly revision: number;
  /** When the servers stored it, by their clock, in milliseconds since 1970. */
  readonly storedAt: number;
  /** The parsed JSON; undefined if it is malformed. */
  readonly value: unknown;
}

// How often the copy is compared with the bucket: a watch that has stopped is noticed at the second difference.
const COPY_CHECK_MS = 2500;

const COPY_RETRY_MS = 250;

// How long a change may wait until the copy has it.
const COPY_WAIT_MS = 5000;

// A removed key leaves a mark in the bucket. Copies that follow the bucket need it for a moment, the others read all anew.
const MARK_LIFE_MS = 60_000;

// Beyond this, a node that removes a key deletes old marks: logins of one token could fill the bucket with them.
const MAX_MARKS = 1000;

const SAFE_KEY = /^[\w.-]+$/;

/**
 * A copy of a bucket in memory that follows all changes.
 *
 * It is read anew after each reconnect and when its watch has stopped, so that it does not keep what was removed
 * meanwhile. Until that succeeds the previous content stays.
 */
export class WatchedBucket {
  readonly #kv: KV;
  readonly #cluster: ClusterConnection;
  readonly #name: string;
  readonly #stream: string;
  /** The marks of removed keys, with the times of the removals. */
  readonly #marks = new Map<string, number>();
  readonly #listeners: BucketListeners;
  #values: ReadonlyMap<string, BucketValue> = new Map();
  /** The number of the last change in the copy; undefined until the bucket was read once. */
  #position: number | undefined;
  /** The position at which the copy was late at the last check. */
  #latePosition: number | undefined;
  #watch: { readonly stop: () => void } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #waiting: (() => void)[] = [];
  #isClosed = false;
  #hasFailed = false;

  private constructor(cluster: ClusterConnection, { kv, name, ...listeners }: BucketParts) {
    this.#kv = kv;
    this.#cluster = cluster;
    this.#name = name;
    this.#stream = bucketStream(name);
    this.#listeners = listeners;
  }

  /** Opens a bucket that exists, with all its values. */
  static async open(cluster: ClusterConnection, name: string, listeners: BucketListeners = {}): Promise<WatchedBucket> {
    const bucket = new WatchedBucket(cluster, { kv: await new Kvm(cluster.js).open(name), name, ...listeners });
    await new Promise<void>((resolve, reject) => {
      bucket.#waiting.push(resolve);
      void bucket.#run(reject);
    });
    return bucket;
  }

  get(key: string): BucketValue | undefined {
    return this.#values.get(key);
  }

  /** The values whose keys begin so, in the order in which they were written. */
  startingWith(prefix: string): readonly BucketValue[] {
    return [...this.#values.values()]
      .filter(({ key }) => key.startsWith(prefix))
      .sort((one, other) => one.revision - other.revision);
  }

  /** Stores a value behind this revision, 0 for a new key; returns false if the key has changed. */
  put(key: string, value: object, revision: number): Promise<boolean> {
    return unlessConflict(this.#kv.put(key, JSON.stringify(value), { previousSeq: revision }));
  }

  /** Removes a key in this revision, or in any; returns false if the key has changed. */
  remove(key: string, revision?: number): Promise<boolean> {
    if (this.#marks.size > MAX_MARKS) this.purgeMarks().catch(() => {});
    return unlessConflict(this.#kv.delete(key, revision === undefined ? {} : { previousSeq: revision }));
  }

  /** When a key was removed, by the clock of the servers; undefined if it was not. */
  async removedAt(key: string): Promise<number | undefined> {
    const entry = await orRefusal(this.#kv.get(key));
    return entry && entry.operation !== 'PUT' ? entry.created.getTime() : undefined;
  }

  /** Deletes the marks of keys that were removed some time ago. */
  async purgeMarks(): Promise<void> {
    const old = [...this.#marks].filter(([, removedAt]) => Date.now() - removedAt >= MARK_LIFE_MS);
    for (const [key] of old) this.#marks.delete(key);
    // A key with a wildcard would name others, too.
    for (const [key] of old.filter(([name]) => SAFE_KEY.test(name))) {
      if (this.#isClosed) return;
      await this.#cluster.manager.streams.purge(this.#stream, { filter: `$KV.${this.#name}.${key}` });
    }
  }

  /** Waits until the copy fulfils a condition; not for ever, because the bucket counts and not the copy. */
  async until(condition: () => boolean): Promise<void> {
    for (const deadline = performance.now() + COPY_WAIT_MS; !condition(); ) {
      const waitMs = deadline - performance.now();
      if (waitMs <= 0) return;
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        setTimeout(resolve, waitMs).unref();
      });
    }
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#watch?.stop();
  }

  async #run(onFailure: (error: unknown) => void): Promise<void> {
    const { nats } = this.#cluster;
    void this.#watchConnection();
    this.#timer = setInterval(() => void this.#restartIfLate(), COPY_CHECK_MS).unref();
    while (!this.#isClosed && !nats.isClosed()) {
      try {
        await this.#follow();
      } catch (error) {
        if (this.#position === undefined) {
          this.close();
          onFailure(error);
        } else if (!this.#hasFailed) {
          this.#hasFailed = true;
          this.#listeners.onError?.(error);
        }
      }
      await delay(COPY_RETRY_MS, undefined, { ref: false });
    }
  }

  /** Changes may be lost while the connection is. */
  async #watchConnection(): Promise<void> {
    for await (const { type } of this.#cluster.nats.status()) if (type === 'reconnect') this.#watch?.stop();
  }

  /** Reads all values, then follows their changes until the watch ends. */
  async #follow(): Promise<void> {
    const { state } = await this.#cluster.manager.streams.info(this.#stream);
    const changes = await this.#kv.watch();
    const values = new Map<string, BucketValue>();
    this.#watch = changes;
    this.#marks.clear();
    let isLoading = state.messages > 0;
    if (!isLoading) this.#adopt(values, state.last_seq);
    for await (const change of changes) {
      if (this.#isClosed) return;
      this.#apply(values, change);
      isLoading &&= change.delta !== 0;
      if (!isLoading) this.#adopt(values, Math.max(state.last_seq, change.revision));
    }
  }

  #apply(values: Map<string, BucketValue>, change: KvWatchEntry): void {
    const { key, revision, operation, created } = change;
    const at = created.getTime();
    if (operation === 'PUT') {
      values.set(key, { key, revision, storedAt: at, value: parsedValue(change) });
      this.#marks.delete(key);
    } else {
      values.delete(key);
      this.#marks.set(key, at);
    }
  }

  #adopt(values: ReadonlyMap<string, BucketValue>, position: number): void {
    this.#values = values;
    this.#position = position;
    this.#hasFailed = false;
    this.#listeners.onChange?.();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Ends a watch that has shown nothing since the previous call, although there are changes. */
  async #restartIfLate(): Promise<void> {
    const { manager } = this.#cluster;
    const info = await manager.streams.info(this.#stream).catch(() => undefined);
    if (info === undefined || this.#isClosed) return;
    const isLate = info.state.last_seq !== this.#position;
    if (isLate && this.#latePosition === this.#position) this.#watch?.stop();
    this.#latePosition = isLate ? this.#position : undefined;
  }
}

function parsedValue(change: KvWatchEntry): unknown {
  try {
    return change.json();
  } catch {
    return undefined;
  }
}

/** Waits for a change of a bucket; returns false if another one came first. */
export async function unlessConflict(change: Promise<unknown>): Promise<boolean> {
  try {
    await orRefusal(change);
    return true;
  } catch (error) {
    if (appendFailure(error) === 'conflict') return false;
    throw error;
  }
}

/** Rejects with a refusal, for clients, if the servers do not respond. */
export async function orRefusal<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throwIfForbidden(error);
    if (appendFailure(error) !== 'unknown') throw error;
    throw new Refusal('overloaded', 'The NATS servers of the cluster do not respond: try again', { cause: error });
  }
}

interface BucketListeners {
  readonly onChange?: () => void;
  /** Called when the changes cannot be followed: once, until they can again. */
  readonly onError?: (error: unknown) => void;
}

interface BucketParts extends BucketListeners {
  readonly kv: KV;
  readonly name: string;
}
