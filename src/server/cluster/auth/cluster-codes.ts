import { isObject } from '../../../protocol/json.ts';
import { digestOf, newSecret, SHA256 } from '../../../store/tokens/token-record.ts';
import { findBySecret } from '../../auth/credential-index.ts';
import { type Grant, owner } from '../../auth/grant.ts';
import { CODE_LIFE_MS, MAX_CODES } from '../../auth/login-codes.ts';
import type { CodeStore } from '../../auth/server-credentials.ts';
import type { BucketValue, WatchedBucket } from './watched-bucket.ts';

// The prefix of the keys of login codes; the digest of the code follows.
const CODE_KEY = 'code.';

/** Codes of a cluster, each valid once on any node: of several that redeem it the first removes its key. */
export class ClusterCodes implements CodeStore {
  readonly #bucket: WatchedBucket;
  readonly #lifeMs: number;

  constructor(bucket: WatchedBucket, lifeMs = CODE_LIFE_MS) {
    this.#bucket = bucket;
    this.#lifeMs = lifeMs;
  }

  async issue({ id }: Grant): Promise<string> {
    const code = newSecret();
    const key = `${CODE_KEY}${digestOf(code)}`;
    await this.#bucket.put(key, { source: id }, 0);
    await this.#bucket.until(() => this.#bucket.get(key) !== undefined);
    // The next code removes the rest.
    await this.#removeOld(this.#bucket.get(key)?.storedAt ?? 0).catch(() => {});
    return code;
  }

  async redeem(code: string): Promise<Grant | undefined> {
    const found = findBySecret(this.#codes(), code);
    if (!found || !(await this.#bucket.remove(found.key, found.revision))) return undefined;
    // Both times are of the servers: the clocks of nodes may differ.
    const age = ((await this.#bucket.removedAt(found.key)) ?? Number.POSITIVE_INFINITY) - found.storedAt;
    return age < this.#lifeMs && isObject(found.value) && found.value['source'] === owner.id ? owner : undefined;
  }

  async #removeOld(now: number): Promise<void> {
    const codes = this.#codes();
    const old = codes.filter(
      ({ storedAt }, index) => now - storedAt >= this.#lifeMs || index < codes.length - MAX_CODES,
    );
    for (const { key, revision } of old) await this.#bucket.remove(key, revision);
  }

  #codes(): readonly (BucketValue & { sha256: string })[] {
    return this.#bucket
      .startingWith(CODE_KEY)
      .map((one) => ({ ...one, sha256: one.key.slice(CODE_KEY.length) }))
      .filter(({ sha256 }) => SHA256.test(sha256));
  }
}
