import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { FirstSession } from '../../engine/open.ts';
import { agentEntries, type SessionEntries } from '../../extend/extensions/api/session-view.ts';
import { SessionWriter } from '../../extend/extensions/api/session-writer.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionEntry, SessionHeader } from '../../protocol/generated/vocabulary.ts';
import type { Session } from '../../session/session.ts';
import { agentDir, sessionDirFor } from '../../store/agent-dir.ts';
import { latestSession } from '../../store/sessions/listing/find-session.ts';
import { findSessionFile, type ListProgress, listSessions, type SessionInfo } from './list-sessions.ts';
import { branchWithLabels, StandaloneSession } from './standalone-session.ts';

/** The id and the parent of a new session. */
export interface NewSessionOptions {
  readonly id?: string | undefined;
  /** The file of the session that this one continues. */
  readonly parentSession?: string | undefined;
}

// The session that a manager reads and writes: of an agent, once it has one.
interface Current {
  standalone: StandaloneSession;
  agent: SessionEntries | undefined;
}

/**
 * A session under pi's names, with or without an agent.
 *
 * Without an agent it reads a file as it was when opened and appends to it. `createAgentSession` opens it under its
 * lock; from then on the manager follows that agent.
 */
export class SessionManager extends SessionWriter {
  readonly #current: Current;
  readonly #sessionDir: string | undefined;
  // Whether the session was made without a working folder: then that of the agent applies.
  readonly #takesAnyCwd: boolean;
  // Whether the most recent session of the agent's folder replaces the new one.
  #continuesLatest = false;

  private constructor(standalone: StandaloneSession, { sessionDir, takesAnyCwd = false }: ManagerOptions = {}) {
    const current: Current = { standalone, agent: undefined };
    super(() => current.agent ?? current.standalone);
    this.#current = current;
    this.#sessionDir = sessionDir;
    this.#takesAnyCwd = takesAnyCwd;
  }

  /** A new session, stored with its first entry. Without `cwd` it belongs to the folder of its agent. */
  static create(cwd?: string, sessionDir?: string, options: NewSessionOptions = {}): SessionManager {
    const folder = resolve(cwd ?? process.cwd());
    const session = StandaloneSession.create({
      ...options,
      cwd: folder,
      directory: sessionDir ?? defaultDirectory(folder),
    });
    return new SessionManager(session, { sessionDir, takesAnyCwd: cwd === undefined });
  }

  /** The session in this file; a missing or empty file becomes a new session. New sessions go to the same folder. */
  static open(path: string, sessionDir = dirname(resolve(path)), cwdOverride?: string): SessionManager {
    const session = sessionAt(resolve(path), cwdOverride);
    return new SessionManager(session, { sessionDir, takesAnyCwd: !session.isStored && cwdOverride === undefined });
  }

  /** The most recent session of this folder, or a new one. */
  static continueRecent(cwd = process.cwd(), sessionDir?: string): SessionManager {
    const latest = latestSession(sessionDir ?? defaultDirectory(resolve(cwd)), resolve(cwd));
    if (latest === undefined) {
      const manager = SessionManager.create(cwd, sessionDir);
      manager.#continuesLatest = true;
      return manager;
    }
    return new SessionManager(StandaloneSession.read(latest), { sessionDir: sessionDir ?? dirname(latest) });
  }

  /** A session that is not stored; it may start with entries, of which a header is ignored. */
  static inMemory(
    cwd?: string,
    options: NewSessionOptions = {},
    entries: readonly (SessionHeader | SessionEntry)[] = [],
  ): SessionManager {
    const session = StandaloneSession.create({ ...options, cwd: resolve(cwd ?? process.cwd()) });
    session.addAll(structuredClone(entries.filter((entry): entry is SessionEntry => entry.type !== 'session')));
    return new SessionManager(session, { takesAnyCwd: cwd === undefined });
  }

  /** A copy of a session, with all branches, for another folder. */
  static forkFrom(...[sourcePath, targetCwd, sessionDir, options = {}]: ForkArguments): SessionManager {
    const source = StandaloneSession.read(sourcePath);
    const cwd = resolve(targetCwd);
    const directory = sessionDir ?? defaultDirectory(cwd);
    const copy = StandaloneSession.create({ parentSession: resolve(sourcePath), ...options, cwd, directory });
    copy.addAll(source.entries());
    copy.moveLeaf(source.leafId);
    return new SessionManager(copy, { sessionDir });
  }

  /** The file of the session with this id among those of a folder. */
  static findById(cwd: string, id: string, sessionDir?: string): string | undefined {
    return findSessionFile(sessionDir ?? defaultDirectory(resolve(cwd)), id);
  }

  /** The sessions of a folder, most recent first. */
  static async list(cwd: string, sessionDir?: string, onProgress?: ListProgress): Promise<SessionInfo[]> {
    return listSessions({ cwd: resolve(cwd), sessionDir, onProgress });
  }

  static async listAll(
    sessionDir?: string | ListProgress,
    onProgress?: ListProgress | AbortSignal,
  ): Promise<SessionInfo[]> {
    if (typeof sessionDir === 'function') return listSessions({ onProgress: sessionDir });
    return listSessions({ sessionDir, onProgress: typeof onProgress === 'function' ? onProgress : undefined });
  }

  /** Also true for a session that will be stored with its first entry. */
  override isPersisted = (): boolean => this.getSessionFile() !== undefined;

  override getSessionDir = (): string => {
    if (this.#sessionDir !== undefined) return this.#sessionDir;
    const path = this.getSessionFile();
    return path === undefined ? '' : dirname(path);
  };

  /** Whether new sessions go to the folder that pi derives from the working folder. */
  usesDefaultSessionDir = (): boolean => this.getSessionDir() === defaultDirectory(this.getCwd());

  /** Reads another file from now on. */
  setSessionFile(path: string): void {
    this.#requireNoAgent('setSessionFile');
    this.#current.standalone = sessionAt(resolve(path));
  }

  /** Starts a new session in the same folder; returns its file. */
  newSession(options: NewSessionOptions = {}): string | undefined {
    this.#requireNoAgent('newSession');
    const directory = this.getSessionFile() === undefined ? undefined : this.getSessionDir();
    this.#current.standalone = StandaloneSession.create({ ...options, cwd: this.getCwd(), directory });
    return this.getSessionFile();
  }

  /**
   * Copies the branch up to an entry into a new session and returns its file, undefined in memory. Without an agent the
   * manager continues in the copy; an agent stays in its session.
   */
  createBranchedSession(leafId: string): string | undefined {
    const session = this.#current.agent ?? this.#current.standalone;
    const entries = structuredClone(branchWithLabels(session, leafId));
    const directory = session.path === undefined ? undefined : this.getSessionDir();
    const { cwd } = session.header;
    const copy = StandaloneSession.create({ cwd, directory, parentSession: session.path });
    copy.addAll(entries);
    if (!this.#current.agent) this.#current.standalone = copy;
    return copy.path;
  }

  /** @internal The working folder of the agent; throws if the manager has an agent, or on a mismatch. */
  resolveCwd(requested: string | undefined): string {
    if (this.#current.agent) throw new Refusal('session_in_use', ALREADY_IN_USE);
    const own = this.getCwd();
    const cwd = resolve(requested ?? own);
    if (cwd === own) return cwd;
    if (this.#takesAnyCwd) this.#current.standalone.moveTo(cwd);
    // A session whose folder is gone may continue elsewhere.
    else if (isFolder(own)) {
      const advice = 'leave cwd out, or take a copy with SessionManager.forkFrom()';
      throw new Refusal('invalid_params', `The session belongs to ${own}, not to ${cwd}: ${advice}`);
    }
    return cwd;
  }

  /** @internal The folder of new sessions, if one was given. */
  get chosenDirectory(): string | undefined {
    return this.#sessionDir;
  }

  /** @internal The first session of an agent with this folder for new sessions. */
  firstSession(directory: string): FirstSession {
    const { standalone } = this.#current;
    const { path, leafId, header } = standalone;
    if (path === undefined) return { kind: 'memory', id: header.id, entries: standalone.entries(), leafId };
    // A new session without a chosen folder is stored where the agent stores its others.
    if (!standalone.isStored && this.#sessionDir === undefined && dirname(path) !== resolve(directory)) {
      const latest = this.#continuesLatest ? latestSession(directory, header.cwd) : undefined;
      if (latest !== undefined) return { kind: 'file', path: latest, create: false };
      return { kind: 'new', id: header.id, parentSession: header.parentSession };
    }
    standalone.store();
    return { kind: 'file', path, create: true, leafId };
  }

  /** @internal Reads and writes this session from now on. */
  bind(session: () => Session): void {
    this.#current.agent = agentEntries(session);
  }

  #requireNoAgent(name: string): void {
    if (!this.#current.agent) return;
    throw new Refusal('not_supported', `SessionManager.${name} would leave its agent behind: use AgentSessionRuntime`);
  }
}

interface ManagerOptions {
  readonly sessionDir?: string | undefined;
  readonly takesAnyCwd?: boolean;
}

type ForkArguments = [sourcePath: string, targetCwd: string, sessionDir?: string, options?: NewSessionOptions];

const ALREADY_IN_USE = 'This SessionManager has an agent already: make another one';

const defaultDirectory = (cwd: string) => sessionDirFor(agentDir(process.env), cwd);

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

function sessionAt(path: string, cwd?: string): StandaloneSession {
  const isEmpty = !existsSync(path) || statSync(path).size === 0;
  return isEmpty
    ? StandaloneSession.createAt(path, { cwd: cwd ?? process.cwd() })
    : StandaloneSession.read(path, { cwd });
}
