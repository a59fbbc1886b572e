import type { JsonObject } from '../../../protocol/json.ts';
import type { TokenRecord } from '../../../store/tokens/token-record.ts';
import {
  byAge,
  findToken,
  type NewToken,
  newTokenEntry,
  parseToken,
  type StoredTokens,
} from '../../../store/tokens/token-store.ts';
import { type ClusterAddress, connectCluster, untilAnswered } from '../connection.ts';
import { AUTH_BUCKET } from '../names.ts';
import { checkBuckets } from '../setup.ts';
import { StoredBucket } from '../stored-bucket.ts';
import { type BucketValue, orRefusal } from './watched-bucket.ts';

/** The prefix of the keys of tokens; the id follows. */
export const TOKEN_KEY = 'token.';

/** The ids that tau makes for tokens and logins: another one could pass for the owner. */
export const RECORD_ID = /^[0-9a-f]{8}(-[0-9a-f-]{27})?$/;

/** The tokens of a cluster, as a command changes them. */
export class ClusterTokens {
  readonly #bucket: StoredBucket;
  readonly #disconnect: () => Promise<void>;

  private constructor(bucket: StoredBucket, disconnect: () => Promise<void>) {
    this.#bucket = bucket;
    this.#disconnect = disconnect;
  }

  /** Rejects with a sentence if the cluster cannot be reached, or has no tokens. */
  static async open(address: ClusterAddress, waitMs: number): Promise<ClusterTokens> {
    const connection = await connectCluster(address, waitMs);
    try {
      await orRefusal(untilAnswered(() => checkBuckets(connection)));
      const bucket = await orRefusal(StoredBucket.open(connection, AUTH_BUCKET));
      return new ClusterTokens(bucket, () => connection.nats.close());
    } catch (error) {
      await connection.nats.close();
      throw error;
    }
  }

  async create(request: NewToken): Promise<{ id: string; token: string }> {
    for (;;) {
      const { id, token, entry } = newTokenEntry(await this.#entries(), request);
      // The id may have been that of a token before.
      if (await this.#bucket.put(`${TOKEN_KEY}${id}`, entry, 0)) return { id, token };
    }
  }

  async list(): Promise<StoredTokens> {
    const parsed = (await this.#values()).map(parseStoredToken);
    return {
      tokens: parsed.filter((token) => typeof token === 'object').sort(byAge),
      problems: parsed.filter((problem) => typeof problem === 'string').map((problem) => `${AUTH_BUCKET}: ${problem}`),
    };
  }

  async revoke(idOrName: string): Promise<{ id: string; name: string }> {
    const found = findToken(await this.#entries(), idOrName);
    await this.#bucket.remove(`${TOKEN_KEY}${found.id}`);
    return found;
  }

  close(): Promise<void> {
    return this.#disconnect();
  }

  #values(): Promise<readonly BucketValue[]> {
    return orRefusal(this.#bucket.matching(`${TOKEN_KEY}>`));
  }

  async #entries(): Promise<JsonObject> {
    const values = await this.#values();
    return Object.fromEntries(values.map(({ key, value }) => [key.slice(TOKEN_KEY.length), value]));
  }
}

/** The token in a value of the bucket, or the problem of an invalid one, which does not quote it. */
export function parseStoredToken({ key, value }: BucketValue): TokenRecord | string {
  const id = key.slice(TOKEN_KEY.length);
  if (!RECORD_ID.test(id)) return 'a token is ignored: its key is no id';
  const token = parseToken(id, value);
  return typeof token === 'object' ? token : `token ${id} is ignored: ${token}`;
}
