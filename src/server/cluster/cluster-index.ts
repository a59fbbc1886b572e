import { basename } from 'node:path';
import { type KV, Kvm, type KvWatchEntry } from '@nats-io/kv';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionSummary } from '../../protocol/generated/vocabulary.ts';
import type { ListOptions, SessionPage } from '../../store/sessions/listing/list-sessions.ts';
import type { ClusterConnection } from './connection.ts';
import { INDEX_BUCKET } from './names.ts';

/** A session as all nodes of the cluster list it. Its `path` is the name of its file. */
export interface IndexedSession extends SessionSummary {
  /** The node that had it last. */
  readonly node: string;
  readonly isTrashed?: boolean | undefined;
}

/** The sessions of the cluster, without their messages: a view of the logs that each owner updates. */
export class ClusterIndex {
  readonly #bucket: KV;
  readonly #sessions = new Map<string, IndexedSession>();

  private constructor(bucket: KV) {
    this.#bucket = bucket;
  }

  /** Opens the index with all its sessions, and follows the changes of other nodes. */
  static async open({ js }: ClusterConnection): Promise<ClusterIndex> {
    const bucket = await new Kvm(js).open(INDEX_BUCKET);
    const index = new ClusterIndex(bucket);
    const { values } = await bucket.status();
    const changes = await bucket.watch();
    await new Promise<void>((resolve, reject) => {
      if (values === 0) resolve();
      index.#follow(changes, { values, onComplete: resolve }).catch(reject);
    });
    return index;
  }

  /** A session, also one in the trash. */
  find(sessionId: string): IndexedSession | undefined {
    return this.#sessions.get(sessionId);
  }

  /** A session that can be opened. */
  get(sessionId: string): IndexedSession | undefined {
    const session = this.find(sessionId);
    return session?.isTrashed ? undefined : session;
  }

  async put(session: IndexedSession): Promise<void> {
    this.#sessions.set(session.id, session);
    await this.#bucket.put(session.id, JSON.stringify(session));
  }

  /** Lists a page, last written first. */
  list({
    cwd,
    mayList = () => true,
    cursor,
    trashed = false,
    limit = Number.POSITIVE_INFINITY,
  }: ListOptions): SessionPage {
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    const matching = [...this.#sessions.values()]
      .filter(({ isTrashed = false, messageCount }) => isTrashed === trashed && messageCount > 0)
      .filter((session) => (cwd === undefined || session.cwd === cwd) && mayList(session.cwd))
      .filter((session) => !after || byAge(session, after) > 0)
      .sort(byAge);
    const page = matching.slice(0, limit);
    const last = page.at(-1);
    return {
      sessions: page.map(({ node: _, isTrashed: __, ...summary }) => summary),
      ...(last && matching.length > page.length ? { nextCursor: encodeCursor(last) } : {}),
    };
  }

  async #follow(
    changes: AsyncIterable<KvWatchEntry>,
    { values, onComplete }: { values: number; onComplete: () => void },
  ): Promise<void> {
    let received = 0;
    for await (const entry of changes) {
      if (entry.operation === 'PUT') this.#sessions.set(entry.key, entry.json<IndexedSession>());
      else this.#sessions.delete(entry.key);
      received++;
      if (received === values) onComplete();
    }
  }
}

type Position = Pick<SessionSummary, 'lastModified' | 'id'>;

/** Last written first; equal times are ordered by id. */
function byAge(a: Position, b: Position): number {
  if (a.lastModified !== b.lastModified) return a.lastModified > b.lastModified ? -1 : 1;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

const encodeCursor = ({ lastModified, id }: Position): string =>
  Buffer.from(JSON.stringify([lastModified, id])).toString('base64url');

function decodeCursor(cursor: string): Position {
  try {
    const [lastModified, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof lastModified === 'string' && typeof id === 'string') return { lastModified, id };
  } catch {
    // The cursor is not from a session listing.
  }
  throw new Refusal('not_found', `Not a cursor of a session listing: ${cursor.slice(0, 100)}`);
}

// The id in the name of a session file: the time before it has no underscore.
const FILE_ID = /^[^_]*_(.+)\.jsonl$/;

/** The id of the session that a path names on every node; empty if it names none. */
export const sessionIdIn = (path: string): string => FILE_ID.exec(basename(path))?.[1] ?? '';
