import { closeSync, constants, openSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { Refusal } from '../protocol/errors.ts';
import type { Params, Result, SessionHeader, SessionSummary } from '../protocol/generated/vocabulary.ts';
import { sessionDirFor, sessionsFolder } from '../store/agent-dir.ts';
import { isSessionId, notASession, readHeader } from '../store/sessions/header.ts';
import { findSessionById } from '../store/sessions/listing/find-session.ts';
import { SessionList } from '../store/sessions/listing/list-sessions.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import { isPathInside } from '../system/files/path-inside.ts';
import { type Grant, mayOpen, permissionDenied, permits } from './auth/grant.ts';
import type { Sessions, SessionTarget } from './sessions.ts';

// The largest page of a session list; without a limit, a page has as many.
const MAX_LISTED_SESSIONS = 1000;

interface SessionCatalogOptions {
  readonly agentDir: string;
  // The default for new sessions.
  readonly cwd: string;
  readonly live: Pick<Sessions, 'statusOf' | 'fileOf' | 'folderOf'>;
}

/** The session that a client requests. */
export interface SessionSelector {
  readonly session?: string | undefined;
  readonly cwd?: string | undefined;
  /** The id that the client chose for its new session. */
  readonly newId?: string | undefined;
}

/** The stored sessions that a grant may see. */
export class SessionCatalog {
  readonly #options: SessionCatalogOptions;
  readonly #list: SessionList;

  constructor(options: SessionCatalogOptions) {
    this.#options = options;
    this.#list = new SessionList(sessionsFolder(options.agentDir));
  }

  /** The requested session, or a new one. A session that the grant does not allow counts as missing. */
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

  /** The session in a file; `base` resolves relative paths. */
  at(path: string, grant: Grant, base = this.#options.cwd): SessionTarget {
    return this.#inFile(resolve(base, path), path, grant);
  }

  async list({ cwd, cursor, limit }: Params<'list_sessions'>, grant: Grant): Promise<Result<'list_sessions'>> {
    const folder = cwd === undefined ? undefined : resolve(this.#options.cwd, cwd);
    if (folder !== undefined && !mayOpen(grant, folder)) throw denied(cwd);
    const pageLimit = Math.min(limit ?? MAX_LISTED_SESSIONS, MAX_LISTED_SESSIONS);
    const page = await this.#list.list({
      cwd: folder,
      cursor,
      limit: pageLimit,
      mayList: (path) => mayOpen(grant, path),
    });
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
    const path =
      live.fileOf(id) ?? findSessionById({ id, root: agentDir, sessionDirectory: sessionDirFor(agentDir, cwd) });
    if (path !== undefined) return this.#inFile(path, id, grant);
    const folder = live.folderOf(id);
    if (folder === undefined) return undefined;
    if (!mayOpen(grant, folder)) throw notFound(id);
    return { kind: 'new', id, cwd: folder };
  }

  #inFile(path: string, name: string, grant: Grant): SessionTarget {
    const isLimited = grant.allowedPaths !== undefined;
    // A missing and a forbidden session get the same message.
    if (isLimited && !this.#mayRead(path, grant)) throw notFound(name);
    const header = headerOf(path);
    if (header === 'missing') throw notFound(name);
    if (header === 'foreign') throw isLimited ? notFound(name) : notASession(name);
    // Without its folder, the agent would start in another one.
    if (isLimited && !(mayOpen(grant, header.cwd) && isFolder(header.cwd))) throw notFound(name);
    return { kind: 'stored', path, id: header.id, cwd: header.cwd };
  }

  /** A file can claim any folder, so it must be a stored session or lie in an allowed folder. */
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

/** Repeats only text that the client sent. */
const denied = (cwd = 'name a cwd that you may open') => new Refusal('permission_denied', `Permission denied: ${cwd}`);

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const notFound = (name: string) => new Refusal('session_not_found', `Session not found: ${name}`);

/** The header of a session file. A pipe or a device is not opened. */
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
