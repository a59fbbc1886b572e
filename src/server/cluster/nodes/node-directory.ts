import { type KV, type KvEntry, Kvm, KvWatchInclude } from '@nats-io/kv';
import { isObject } from '../../../protocol/json.ts';
import type { ClusterConnection } from '../connection.ts';
import { followBucket } from '../follow-bucket.ts';
import { CLUSTER_PROTOCOL, NODES_BUCKET, type NodeIdentity } from '../names.ts';
import { StoredBucket } from '../stored-bucket.ts';
import type { NodeKey } from './node-facts.ts';

/** A node whose key has not expired. It may have died since. */
export interface KnownNode extends NodeKey, NodeIdentity {}

/** The nodes of the cluster as their keys describe them. */
export class NodeDirectory {
  readonly #bucket: KV;
  readonly #keyLifeMs: number;
  readonly #nodes = new Map<string, KnownNode & { readonly seenAt: number }>();

  private constructor(bucket: KV, keyLifeMs: number) {
    this.#bucket = bucket;
    this.#keyLifeMs = keyLifeMs;
  }

  /** Reads all keys, and follows their changes. */
  static async open({ js, nats }: ClusterConnection, onError: (error: unknown) => void): Promise<NodeDirectory> {
    const bucket = await new Kvm(js).open(NODES_BUCKET);
    const directory = new NodeDirectory(bucket, (await bucket.status()).ttl);
    const open = async () => {
      const changes = await bucket.watch({ include: KvWatchInclude.UpdatesOnly });
      await directory.#refresh(onError);
      return changes;
    };
    void followBucket(await open(), { nats, open, onEntry: (entry) => directory.#apply(entry), onError });
    return directory;
  }

  get all(): readonly KnownNode[] {
    return [...this.#nodes.values()].filter(({ seenAt }) => performance.now() - seenAt < this.#keyLifeMs);
  }

  get(name: string): KnownNode | undefined {
    return this.all.find((node) => node.name === name);
  }

  /** The state of a session that some node serves. */
  statusOf(sessionId: string) {
    return this.all.find(({ statuses }) => Object.hasOwn(statuses, sessionId))?.statuses[sessionId];
  }

  async #refresh(onError: (error: unknown) => void): Promise<void> {
    for await (const name of await this.#bucket.keys()) {
      const entry = await this.#bucket.get(name);
      try {
        if (entry) this.#apply(entry);
      } catch (error) {
        onError(error);
      }
    }
  }

  /** The bucket does not report the expiry of a key, so that the time of the last renewal counts. */
  #apply(entry: KvEntry): void {
    const now = performance.now();
    for (const [name, { seenAt }] of this.#nodes) if (now - seenAt >= this.#keyLifeMs) this.#nodes.delete(name);
    if (entry.operation === 'PUT')
      this.#nodes.set(entry.key, { ...factsIn(entry.key, entry.json()), name: entry.key, seenAt: now });
    else this.#nodes.delete(entry.key);
  }
}

/** Reads the nodes once, as commands do. A malformed key is reported. */
export async function readNodes(
  cluster: ClusterConnection,
  onError: (error: unknown) => void,
): Promise<readonly KnownNode[]> {
  const bucket = await StoredBucket.open(cluster, NODES_BUCKET);
  return (await bucket.matching('>')).flatMap(({ key: name, value }) => {
    try {
      return [{ ...factsIn(name, value), name }];
    } catch (error) {
      onError(error);
      return [];
    }
  });
}

/** Nodes of other versions may describe themselves in other words. */
function factsIn(name: string, key: unknown): NodeKey {
  if (!isObject(key)) throw new Error(`The key of node ${name} is malformed`);
  const known = key as object as NodeKey;
  return { ...UNKNOWN_FACTS, ...(known.protocol === CLUSTER_PROTOCOL ? known : identifying(known)) };
}

const UNKNOWN_FACTS = { shared: [], agents: 0, hasRoom: false, isDraining: false, statuses: {}, settings: '' };

/** The fields that the keys of all versions have. */
const identifying = ({ incarnation, version, protocol }: NodeKey) => ({ incarnation, version, protocol });
