import { basename } from 'node:path';
import { type KV, Kvm, type KvWatchEntry } from '@nats-io/kv';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionSummary } from '../../protocol/generated/vocabulary.ts';
import { isObject } from '../../protocol/json.ts';
import type { ListOptions, SessionPage } from '../../store/sessions/listing/list-sessions.ts';
import type { ClusterConnection } from './connection.ts';
import { followBucket } from './follow-bucket.ts';
import { INDEX_BUCKET } from './names.ts';
import { type Position, SessionOrder } from './session-order.ts';

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
  readonly #order = new SessionOrder();

  private constructor(bucket: KV) {
    this.#bucket = bucket;
  }

  /** Opens the index with all its sessions, and follows the changes of other nodes. */
  static async open({ js, nats }: ClusterConnection, onError: (error: unknown) => void): Promise<ClusterIndex> {
    const bucket = await new Kvm(js).open(INDEX_BUCKET);
    const index = new ClusterIndex(bucket);
    const changes = await bucket.watch();
    // Entries that are removed from now on are not waited for.
    const { values } = await bucket.status();
    await new Promise<void>((resolve) => {
      if (values === 0) resolve();
      const onEntry = (entry: KvWatchEntry) => {
        if (entry.delta === 0) resolve();
        index.#set(entry.key, entry.operation === 'PUT' ? sessionIn(entry.key, entry.json()) : undefined);
      };
      void followBucket(changes, { nats, open: () => bucket.watch(), onEntry, onError });
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
    this.#set(session.id, session);
    await this.#bucket.put(session.id, JSON.stringify(session));
  }

  /** Lists a page, last written first. */
  list({ cwd, mayList, cursor, trashed = false, limit = Number.POSITIVE_INFINITY }: ListOptions): SessionPage {
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    const mayListIn = once(mayList ?? (() => true));
    const matches = ({ isTrashed = false, messageCount, cwd: folder }: IndexedSession) =>
      isTrashed === trashed && messageCount > 0 && (cwd === undefined || folder === cwd) && mayListIn(folder);
    const page: IndexedSession[] = [];
    for (let at = after ? this.#order.positionAfter(after) : 0; at < this.#order.sessions.length; at++) {
      const session = this.#order.sessions[at];
      if (!session || !matches(session)) continue;
      if (page.length === limit) return { sessions: page.map(summaryOf), nextCursor: encodeCursor(page.at(-1)) };
      page.push(session);
    }
    return { sessions: page.map(summaryOf) };
  }

  #set(id: string, session: IndexedSession | undefined): void {
    this.#order.replace(this.#sessions.get(id), session);
    if (session) this.#sessions.set(id, session);
    else this.#sessions.delete(id);
  }
}

/** The session in a value of the index. Undefined for a malformed value: it must not get into the order of the others. */
export function sessionIn(key: string, value: unknown): IndexedSession | undefined {
  const isSession =
    isObject(value) &&
    value['id'] === key &&
    typeof value['messageCount'] === 'number' &&
    TEXT_FIELDS.every((field) => typeof value[field] === 'string');
  return isSession ? (value as object as IndexedSession) : undefined;
}

const TEXT_FIELDS = ['path', 'cwd', 'lastModified', 'node'] as const;

const summaryOf = ({ node: _, isTrashed: __, ...summary }: IndexedSession): SessionSummary => summary;

/** Checks each folder once: the check resolves links on disk. */
function once(mayList: (folder: string) => boolean): (folder: string) => boolean {
  const known = new Map<string, boolean>();
  return (folder) => {
    const isAllowed = known.get(folder) ?? mayList(folder);
    known.set(folder, isAllowed);
    return isAllowed;
  };
}

const encodeCursor = (last: Position | undefined): string =>
  Buffer.from(JSON.stringify([last?.lastModified, last?.id])).toString('base64url');

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
