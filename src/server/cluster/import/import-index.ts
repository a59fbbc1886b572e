import { type IndexedSession, sessionIn } from '../cluster-index.ts';
import type { ClusterConnection } from '../connection.ts';
import { INDEX_BUCKET } from '../names.ts';
import { StoredBucket } from '../stored-bucket.ts';

/** The list of sessions as an import uses it: it reads the sessions that it moves and no other. */
export class ImportIndex {
  readonly #bucket: StoredBucket;

  private constructor(bucket: StoredBucket) {
    this.#bucket = bucket;
  }

  static async open(cluster: ClusterConnection): Promise<ImportIndex> {
    return new ImportIndex(await StoredBucket.open(cluster, INDEX_BUCKET));
  }

  /** A session, also one in the trash. */
  async find(sessionId: string): Promise<IndexedSession | undefined> {
    const found = await this.#bucket.get(sessionId);
    return found && sessionIn(found.key, found.value);
  }

  async put(session: IndexedSession): Promise<void> {
    await this.#bucket.put(session.id, session);
  }
}
