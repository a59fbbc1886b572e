import { type KV, Kvm } from '@nats-io/kv';
import { type BucketValue, unlessConflict } from './auth/watched-bucket.ts';
import { type ClusterConnection, untilAnswered } from './connection.ts';
import { bucketStream } from './names.ts';

// How many values are requested at once.
const READS_AT_ONCE = 32;

// A removed key has a mark with this header in place of its value.
const REMOVAL_HEADER = 'KV-Operation';

/**
 * A bucket as a command reads it. It needs no consumer: for minutes, the NATS servers place consumers on a server that died,
 * too. Its reads are repeated while the servers elect a leader.
 */
export class StoredBucket {
  readonly #cluster: ClusterConnection;
  readonly #name: string;
  readonly #kv: KV;

  private constructor(cluster: ClusterConnection, { name, kv }: { name: string; kv: KV }) {
    this.#cluster = cluster;
    this.#name = name;
    this.#kv = kv;
  }

  /** Opens a bucket that exists. */
  static async open(cluster: ClusterConnection, name: string): Promise<StoredBucket> {
    return new StoredBucket(cluster, { name, kv: await untilAnswered(() => new Kvm(cluster.js).open(name)) });
  }

  /** The values whose keys match, in the order in which they were written. */
  async matching(keys: string): Promise<readonly BucketValue[]> {
    const filter = { subjects_filter: this.#subject(keys) };
    const stream = bucketStream(this.#name);
    const { state } = await untilAnswered(() => this.#cluster.reader.streams.info(stream, filter));
    const names = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(this.#subject('').length));
    const values: BucketValue[] = [];
    for (let at = 0; at < names.length; at += READS_AT_ONCE) {
      const read = await Promise.all(names.slice(at, at + READS_AT_ONCE).map((key) => this.get(key)));
      values.push(...read.filter((value) => value !== undefined));
    }
    return values.sort((one, other) => one.revision - other.revision);
  }

  /** Reads a value from the leader, which has all that was acknowledged. */
  async get(key: string): Promise<BucketValue | undefined> {
    const request = { last_by_subj: this.#subject(key) };
    const { streams } = this.#cluster.reader;
    const message = await untilAnswered(() => streams.getMessage(bucketStream(this.#name), request));
    if (!message || message.header.has(REMOVAL_HEADER)) return undefined;
    return { key, revision: message.seq, storedAt: message.time.getTime(), value: parsed(message.string()) };
  }

  /** Stores a value behind this revision, 0 for a new key; returns false if the key has changed. */
  put(key: string, value: object, revision?: number): Promise<boolean> {
    const options = revision === undefined ? {} : { previousSeq: revision };
    return unlessConflict(this.#kv.put(key, JSON.stringify(value), options));
  }

  async remove(key: string): Promise<void> {
    await unlessConflict(this.#kv.delete(key));
  }

  #subject(key: string): string {
    return `$KV.${this.#name}.${key}`;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
