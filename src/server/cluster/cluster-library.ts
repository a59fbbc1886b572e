import { join } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import { TRASH_FOLDER } from '../../store/sessions/trash.ts';
import type { SessionLibrary } from '../session-library.ts';
import type { SessionTarget } from '../sessions.ts';
import { type ClusterIndex, type IndexedSession, sessionIdIn } from './cluster-index.ts';
import type { LogOwnership } from './log/log-ownership.ts';
import type { RecordKind } from './log/log-record.ts';
import type { ReplicaFiles } from './log/replica-file.ts';

interface ClusterLibraryOptions {
  readonly ownership: LogOwnership;
  readonly files: ReplicaFiles;
  readonly index: ClusterIndex;
}

/** The trash of a cluster: a record of the log moves a session into it or out of it, its entries stay. */
export class ClusterLibrary implements SessionLibrary {
  readonly #options: ClusterLibraryOptions;

  constructor(options: ClusterLibraryOptions) {
    this.#options = options;
  }

  async trash({ id }: SessionTarget): Promise<string> {
    const session = await this.#mark(id, 'trash');
    this.#options.files.remove(id);
    return join(this.#options.files.folder, TRASH_FOLDER, session.path);
  }

  inTrash(path: string): SessionTarget | undefined {
    const session = this.#options.index.find(sessionIdIn(path));
    return session?.isTrashed ? { kind: 'stored', path, id: session.id, cwd: session.cwd } : undefined;
  }

  async restore({ id }: SessionTarget): Promise<string> {
    const session = await this.#mark(id, 'restore');
    return join(this.#options.files.folder, session.path);
  }

  async #mark(id: string, kind: Extract<RecordKind, 'trash' | 'restore'>): Promise<IndexedSession> {
    const { ownership, index } = this.#options;
    const session = index.find(id);
    if (!session) throw new Refusal('session_not_found', `Session not found: ${id}`);
    const claim = await ownership.claim(id);
    if (!claim) throw new Refusal('session_in_use', `Session is in use on another node: ${id}`);
    try {
      await claim.append(kind, new Uint8Array());
      await index.put({ ...session, isTrashed: kind === 'trash' });
    } finally {
      await claim.release();
    }
    return session;
  }
}
