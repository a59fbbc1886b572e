import { existsSync, readFileSync, renameSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Refusal } from '../../../protocol/errors.ts';
import type { SessionHeader, SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { isSessionId, sessionFileName } from '../../../store/sessions/header.ts';
import { summaryAt } from '../../../store/sessions/listing/list-sessions.ts';
import { openSessionFile } from '../../../store/sessions/session-file.ts';
import { TRASH_FOLDER } from '../../../store/sessions/trash.ts';
import type { Lock } from '../../../system/files/lock.ts';
import { realPath } from '../../../system/files/real-path.ts';

// The end of the name of a file whose session is in the cluster. No list of sessions finds such a file.
const IMPORTED = '.imported';

/** A session file that no other process has open. */
export class LocalSession {
  readonly #path: string;
  readonly #lock: Lock;
  readonly id: string;
  /** Its lines. */
  readonly bytes: Buffer;
  /** As the cluster lists it. */
  readonly summary: SessionSummary;

  private constructor(path: string, lock: Lock, { bytes, summary }: { bytes: Buffer; summary: SessionSummary }) {
    this.#path = path;
    this.#lock = lock;
    this.id = summary.id;
    this.bytes = bytes;
    this.summary = summary;
  }

  /**
   * Locks the file and reads it; one of an older version is migrated first, as by every tau that opens it. Rejects if it is
   * open, in the trash, or no session that a node could open.
   */
  static async open(path: string): Promise<LocalSession> {
    const given = realPath(path);
    const file = existsSync(given) || !existsSync(given + IMPORTED) ? given : given + IMPORTED;
    if (basename(dirname(file)) === TRASH_FOLDER)
      throw new Refusal('invalid_params', `Session is in the trash: restore it with tau sessions restore: ${path}`);
    const { header, lines, lock } = await openSessionFile(file, { ofCluster: true });
    lines.close();
    try {
      const summary = await summaryAt(file);
      if (!summary) throw new Refusal('not_a_session', `Not a session file: ${path}`);
      const name = clusterFileName(header, path);
      return new LocalSession(file, lock, { bytes: readFileSync(file), summary: { ...summary, path: name } });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Renames the file, so that the session is in the cluster only, and nothing is lost. */
  setAside(): void {
    if (this.#path.endsWith(IMPORTED)) return;
    renameSync(this.#path, freePath(this.#path + IMPORTED));
  }

  close(): Promise<void> {
    return this.#lock.release();
  }
}

/** The name of the session's file on every node. */
function clusterFileName({ id, timestamp }: SessionHeader, path: string): string {
  const time = new Date(timestamp);
  if (!isSessionId(id)) throw new Refusal('not_a_session', `The id of the session is not valid: ${path}`);
  if (Number.isNaN(time.getTime())) throw new Refusal('not_a_session', `The header has no valid time: ${path}`);
  return sessionFileName(id, time);
}

function freePath(path: string): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? path : `${path}.${number}`;
    if (!existsSync(candidate)) return candidate;
  }
}
