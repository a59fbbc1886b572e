import { closeSync, constants, openSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { Refusal } from '../protocol/errors.ts';
import type { Params, Result, SessionHeader, SessionSummary } from '../protocol/generated/vocabulary.ts';
import { sessionDirFor, sessionsFolder } from '../store/agent-dir.ts';
import { findSessionById } from '../store/sessions/listing/find-session.ts';
import { isSessionId, notASession, readHeader } from '../store/sessions/header.ts';
import { SessionList } from '../store/sessions/listing/list-sessions.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import { isPathInside } from '../system/files/path-inside.ts';
import { type Grant, mayOpen } from './auth/grant.ts';
import { permissionDenied, permits } from './auth/permission.ts';
import type { Sessions, SessionTarget } from './sessions.ts';

interface SessionCatalogOptions {
  readonly agentDir: string;
  /** Where sessions begin when nobody says where. */
  readonly cwd: string;
  readonly live: Pick<Sessions, 'statusOf' | 'fileOf' | 'folderOf'>;
}

/** What a client asks for when it comes. */
export interface SessionSelector {
  /** A file, or an id. */
  readonly session?: string | undefined;
  /** Where a new one begins. */
  readonly cwd?: string | undefined;
  /** The name that the client gave to its new session. */
  readonly newId?: string | undefined;
}

/** The sessions on disk, as far as somebody may see them. */
export class SessionCatalog {
  readonly #options: SessionCatalogOptions;
  readonly #list: SessionList;

  constructor(options: SessionCatalogOptions) {
    this.#options = options;
    this.#list = new SessionList(sessionsFolder(options.agentDir));
  }

  /** The session that is sought, or a new one. What may not be seen is not there. */
  find({ session, cwd, newId }: SessionSelector, grant: Grant): SessionTarget {
    if (newId !== undefined && !isSessionId(newId)) {
      throw new Refusal('invalid_params', `Not a session id: ${newId}`);
    }
    if (session !== undefined && session !== newId) return this.#stored(session, grant);
    const existing = newId === undefined ? undefined : this.#withId(newId, grant);
    if (existing) return existing;
    if (!permits(grant, 'new_session')) throw permissionDenied('new_session');
    return { kind: 'new', id: newId ?? newUuid(), cwd: this.#folder(cwd, grant) };
  }

  /** The session in a file, wherever a path in a command is counted from. */
  at(path: string, grant: Grant, base = this.#options.cwd): SessionTarget {
    return this.#inFile(resolve(base, path), path, grant);
  }

  async list({ cwd, cursor, limit }: Params<'list_sessions'>, grant: Grant): Promise<Result<'list_sessions'>> {
    const folder = cwd === undefined ? undefined : resolve(this.#options.cwd, cwd);
    if (folder !== undefined && !mayOpen(grant, folder)) throw denied(cwd);
    const page = await this.#list.list({ cwd: folder, cursor, limit, mayList: (path) => mayOpen(grant, path) });
    return { ...page, sessions: page.sessions.map((session) => this.#withStatus(session)) };
  }

  #withStatus(session: SessionSummary): SessionSummary {
    const status = this.#options.live.statusOf(session.id);
    return status === undefined ? session : { ...session, status };
  }

  #stored(session: string, grant: Grant): SessionTarget {
    if (isAbsolute(session) || session.endsWith('.jsonl'))
      return this.#inFile(resolve(this.#options.cwd, session), session, grant);
    const target = isSessionId(session) ? this.#withId(session, grant) : undefined;
    if (!target) throw notFound(session);
    return target;
  }

  #withId(id: string, grant: Grant): SessionTarget | undefined {
    const { agentDir, cwd, live } = this.#options;
    const path = live.fileOf(id) ?? findSessionById({ id, root: agentDir, sessionDirectory: sessionDirFor(agentDir, cwd) });
    if (path !== undefined) return this.#inFile(path, id, grant);
    const folder = live.folderOf(id);
    if (folder === undefined) return undefined;
    if (!mayOpen(grant, folder)) throw notFound(id);
    return { kind: 'new', id, cwd: folder };
  }

  #inFile(path: string, name: string, grant: Grant): SessionTarget {
    const isLimited = grant.allowedPaths !== undefined;
    // The same words for what is missing and what is somebody else's.
    if (isLimited && !this.#mayRead(path, grant)) throw notFound(name);
    const header = headerOf(path);
    if (header === 'missing') throw notFound(name);
    if (header === 'foreign') throw isLimited ? notFound(name) : notASession(name);
    // Where its folder is gone, the agent would begin in another one.
    if (isLimited && !(mayOpen(grant, header.cwd) && isFolder(header.cwd))) throw notFound(name);
    return { kind: 'stored', path, id: header.id, cwd: header.cwd };
  }

  /** A file can say of itself that it belongs anywhere: it lies where sessions are kept, or where everything is allowed. */
  #mayRead(path: string, grant: Grant): boolean {
    return isPathInside(sessionsFolder(this.#options.agentDir), path) || mayOpen(grant, path);
  }

  #folder(cwd: string | undefined, grant: Grant): string {
    const folder = cwd === undefined ? this.#options.cwd : resolve(this.#options.cwd, cwd);
    if (!mayOpen(grant, folder)) throw denied(cwd);
    if (!isFolder(folder)) throw new Refusal('invalid_params', `Invalid parameters: cwd must be a folder: ${cwd}`);
    return folder;
  }
}

/** Says nothing that was not said to us. */
const denied = (cwd = 'name a cwd that you may open') => new Refusal('permission_denied', `Permission denied: ${cwd}`);

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const notFound = (name: string) => new Refusal('session_not_found', `Session not found: ${name}`);

/** What a file says of itself. A pipe or a device is not even opened. */
function headerOf(path: string): SessionHeader | 'missing' | 'foreign' {
  let fd: number | undefined;
  try {
    const stats = path.includes('\0') ? undefined : statSync(path, { throwIfNoEntry: false });
    if (!stats) return 'missing';
    if (!stats.isFile()) return 'foreign';
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return readHeader(fd) ?? 'foreign';
  } catch {
    return 'missing';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
