import { statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { Refusal } from '../protocol/errors.ts';
import type { Params, Result, SessionSummary } from '../protocol/generated/vocabulary.ts';
import { isSessionId, notASession } from '../store/sessions/header.ts';
import { realFolder } from '../store/sessions/listing/session-files.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import { isPathInside } from '../system/files/path-inside.ts';
import { type Grant, mayOpen, permissionDenied, permits, tokenIdOf } from './auth/grant.ts';
import { FairTurns } from './fair-turns.ts';
import { LookupLimit } from './gateway/command-limits.ts';
import type { Sessions, SessionTarget } from './sessions.ts';
import type { StoredSessions } from './stored-sessions.ts';

// The largest page of a session list; without a limit, a page has as many.
const MAX_LISTED_SESSIONS = 1000;

interface SessionCatalogOptions {
  readonly stored: StoredSessions;
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
  readonly #lookups = new LookupLimit();
  readonly #turns = new FairTurns();

  constructor(options: SessionCatalogOptions) {
    this.#options = options;
  }

  /** The session headers that searches by id have read so far. */
  get headersRead(): number {
    return this.#options.stored.headersRead;
  }

  /** The requested session, or a new one. A session that the grant does not allow counts as missing. */
  async find({ session, cwd, newId }: SessionSelector, grant: Grant): Promise<SessionTarget> {
    if (newId !== undefined && !isSessionId(newId)) {
      throw new Refusal('invalid_params', `Not a session id: ${newId}`);
    }
    if (session !== undefined && session !== newId) return this.#stored(session, grant);
    const existing = newId === undefined ? undefined : await this.#withId(newId, grant);
    if (existing) return existing;
    if (!permits(grant, 'new_session')) throw permissionDenied('new_session', grant);
    if (newId !== undefined) this.#options.stored.forgetUnknown(newId);
    return { kind: 'new', id: newId ?? newUuid(), cwd: this.#folder(cwd, grant) };
  }

  /** The session in a file; `base` resolves relative paths. */
  at(path: string, grant: Grant, base = this.#options.cwd): SessionTarget {
    return this.#inFile(resolve(base, path), path, grant);
  }

  /** The next search for this id looks at the folders: its session is about to be restored. */
  expect(id: string): void {
    this.#options.stored.forgetUnknown(id);
  }

  /** Lists one page at a time, the tokens taking turns. A list that is no longer awaited when its turn comes is empty. */
  async list(
    { cwd, cursor, limit }: Params<'list_sessions'>,
    grant: Grant,
    isAwaited: () => boolean = () => true,
  ): Promise<Result<'list_sessions'>> {
    const folder = cwd === undefined ? undefined : resolve(this.#options.cwd, cwd);
    if (folder !== undefined && !mayOpen(grant, folder)) throw denied(cwd);
    const pageLimit = Math.min(limit ?? MAX_LISTED_SESSIONS, MAX_LISTED_SESSIONS);
    const mayList = (path: string) => mayOpen(grant, path);
    return this.#turns.run(tokenIdOf(grant), async () => {
      if (!isAwaited()) return { sessions: [] };
      const page = await this.#options.stored.list({ cwd: folder, cursor, limit: pageLimit, mayList });
      return { ...page, sessions: page.sessions.map((session) => this.#withStatus(this.#visible(session, grant))) };
    });
  }

  /** Whether the grant allows the session in this file; all files if it has no paths. */
  mayOpenFile(path: string, grant: Grant): boolean {
    if (grant.allowedPaths === undefined) return true;
    try {
      return this.at(path, grant) !== undefined;
    } catch {
      return false;
    }
  }

  /** The summary without a parent that the grant does not allow. */
  #visible({ parentSession, ...session }: SessionSummary, grant: Grant): SessionSummary {
    return parentSession !== undefined && this.mayOpenFile(parentSession, grant)
      ? { ...session, parentSession }
      : session;
  }

  #withStatus(session: SessionSummary): SessionSummary {
    const status = this.#options.live.statusOf(session.id);
    return status === undefined ? session : { ...session, status };
  }

  async #stored(session: string, grant: Grant): Promise<SessionTarget> {
    if (isAbsolute(session) || session.endsWith('.jsonl'))
      return this.#inFile(resolve(this.#options.cwd, session), session, grant);
    const target = isSessionId(session) ? await this.#withId(session, grant) : undefined;
    if (!target) throw notFound(session);
    return target;
  }

  /** The session with this id, if there is one. Searches without a result are limited. */
  async #withId(id: string, grant: Grant): Promise<SessionTarget | undefined> {
    const isWithinLimit = this.#lookups.take(grant);
    try {
      const target = await this.#findById(id, grant, isWithinLimit ? 'find' : 'findKnown');
      if (target) this.#lookups.giveBack(grant);
      if (target) return target;
    } catch (error) {
      // Above the limit a forbidden session must not differ from a missing one.
      if (isWithinLimit) throw error;
    }
    if (!isWithinLimit) throw new Refusal('overloaded', 'Too many searches for sessions that are not there');
    return undefined;
  }

  async #findById(id: string, grant: Grant, search: 'find' | 'findKnown'): Promise<SessionTarget | undefined> {
    const { live, stored } = this.#options;
    const path = live.fileOf(id) ?? (await stored[search](id));
    if (path !== undefined) return this.#inFile(path, id, grant);
    const folder = live.folderOf(id);
    if (folder === undefined) return undefined;
    if (!mayOpen(grant, folder)) throw notFound(id);
    return { kind: 'new', id, cwd: folder };
  }

  #inFile(named: string, name: string, grant: Grant): SessionTarget {
    const { stored } = this.#options;
    const path = stored.ownPath(named);
    const isLimited = grant.allowedPaths !== undefined;
    // A missing and a forbidden session get the same message.
    if (isLimited && !this.#mayRead(path, grant)) throw notFound(name);
    const header = stored.headerOf(path);
    if (header === 'missing') throw notFound(name);
    // A client that can only view must not probe which files exist.
    if (header === 'foreign') throw isLimited || !permits(grant, 'prompt') ? notFound(name) : notASession(name);
    // Without its folder, the agent would start in another one.
    const hasFolder = stored.refusesMissingFolders || isFolder(header.cwd);
    if (isLimited && !(mayOpen(grant, header.cwd) && hasFolder)) throw notFound(name);
    return { kind: 'stored', path, id: header.id, cwd: header.cwd };
  }

  /**
   * A file can claim any folder, so it must be a stored session or lie in an allowed folder. Other paths are not resolved:
   * the time that takes would show which of them exist.
   */
  #mayRead(path: string, grant: Grant): boolean {
    const roots = [this.#options.stored.folder, ...(grant.allowedPaths ?? [])];
    return roots.some((root) => isNamedInside(root, path) && isPathInside(root, path));
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

/** Whether a path begins with the folder, as it is written or as it is on disk. Nothing on the path is resolved. */
const isNamedInside = (root: string, path: string) =>
  [resolve(root), realFolder(root)].some(
    (folder) => path === folder || path.startsWith(`${folder.replace(/\/$/, '')}/`),
  );

const notFound = (name: string) => new Refusal('session_not_found', `Session not found: ${name}`);
