import { closeSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { FirstSession } from '../engine/open.ts';
import { SessionView } from '../extend/extensions/api/session-view.ts';
import { Refusal } from '../protocol/errors.ts';
import type { SessionSummary } from '../protocol/generated/vocabulary.ts';
import type { Session } from '../session/session.ts';
import { agentDir, sessionDirFor, sessionsFolder } from '../store/agent-dir.ts';
import { readHeader } from '../store/sessions/header.ts';
import { latestSession } from '../store/sessions/listing/find-session.ts';
import { SessionList } from '../store/sessions/listing/list-sessions.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import { SessionLog } from '../store/sessions/session-log.ts';
import type { SessionDirectories } from './local-engine.ts';

// The session that a manager was made for.
interface SessionChoice {
  readonly kind: 'new' | 'memory' | 'file' | 'latest' | 'fork';
  // Undefined: the folder of the agent.
  readonly cwd?: string | undefined;
  readonly sessionDir?: string | undefined;
  readonly path?: string | undefined;
  readonly id?: string | undefined;
}

/** A summary of a stored session. */
export interface SessionInfo extends Pick<SessionSummary, 'path' | 'id' | 'cwd' | 'firstMessage' | 'messageCount'> {
  readonly name?: string | undefined;
  readonly modified: Date;
}

/** Chooses the session for `createAgentSession`; then reads the open session of that agent. */
export class SessionManager extends SessionView {
  readonly #choice: SessionChoice;
  readonly #reference: SessionReference;

  private constructor(choice: SessionChoice) {
    const reference = new SessionReference();
    super(() => reference.session());
    this.#reference = reference;
    this.#choice = choice;
  }

  /** A new stored session. */
  static create(cwd?: string, sessionDir?: string): SessionManager {
    return new SessionManager({ kind: 'new', cwd, sessionDir, id: newUuid() });
  }

  /** The session in this file, created if missing. New sessions go to the same folder, or to `sessionDir`. */
  static open(path: string, sessionDir: string = dirname(resolve(path))): SessionManager {
    const file = resolve(path);
    return new SessionManager({ kind: 'file', path: file, cwd: storedCwd(file), sessionDir });
  }

  /** The most recent session of this folder, or a new one. */
  static continueRecent(cwd?: string, sessionDir?: string): SessionManager {
    return new SessionManager({ kind: 'latest', cwd, sessionDir });
  }

  /** A session that is not stored. */
  static inMemory(cwd?: string): SessionManager {
    return new SessionManager({ kind: 'memory', cwd, id: newUuid() });
  }

  /** A copy of a session for another folder. */
  static forkFrom(sourcePath: string, targetCwd: string, sessionDir?: string): SessionManager {
    return new SessionManager({ kind: 'fork', path: resolve(sourcePath), cwd: targetCwd, sessionDir });
  }

  /** The sessions of a folder, most recent first. */
  static async list(cwd: string, sessionDir?: string): Promise<SessionInfo[]> {
    return listSessions(sessionDir, { cwd: resolve(cwd), also: sessionDir });
  }

  static async listAll(sessionDir?: string): Promise<SessionInfo[]> {
    return listSessions(sessionDir, { also: sessionDir });
  }

  override isPersisted = (): boolean => this.#choice.kind !== 'memory';
  override getCwd = (): string => this.#reference.header?.cwd ?? resolve(this.#choice.cwd ?? process.cwd());
  override getSessionId = (): string => this.#reference.header?.id ?? this.#choice.id ?? '';
  override getSessionFile = (): string | undefined =>
    this.#reference.path ?? (this.#choice.kind === 'file' ? this.#choice.path : undefined);
  override getSessionDir = (): string => {
    const { path } = this.#reference;
    if (path !== undefined) return dirname(path);
    if (this.#choice.kind === 'memory') return '';
    return this.#choice.sessionDir ?? sessionDirFor(agentDir(process.env), this.getCwd());
  };

  /** @internal The working folder of the agent; throws on a mismatch. */
  resolveCwd(requested: string | undefined): string {
    if (this.#reference.header) throw new Refusal('session_in_use', ALREADY_IN_USE);
    const cwd = resolve(requested ?? this.#choice.cwd ?? process.cwd());
    if (this.#choice.cwd !== undefined && resolve(this.#choice.cwd) !== cwd) {
      const advice = 'leave cwd out, or take a copy with SessionManager.forkFrom()';
      throw new Refusal('invalid_params', `The session belongs to ${this.#choice.cwd}, not to ${cwd}: ${advice}`);
    }
    return cwd;
  }

  /** @internal The folder of new sessions, if one was given. */
  get chosenDirectory(): string | undefined {
    return this.#choice.sessionDir;
  }

  /** @internal The first session of the agent; a fork is made now. */
  async firstSession({ cwd, directory }: SessionDirectories): Promise<FirstSession> {
    const { kind, id, path = '' } = this.#choice;
    switch (kind) {
      case 'new':
      case 'memory':
        return { kind, id };
      case 'file':
        return { kind, path, create: true };
      case 'latest': {
        const latest = latestSession(directory, cwd);
        return latest === undefined ? { kind: 'new' } : { kind: 'file', path: latest, create: false };
      }
      case 'fork':
        return { kind: 'file', path: await forkSession(path, { cwd, directory }), create: false };
      default:
        return kind satisfies never;
    }
  }

  /** @internal Reads this session from now on. */
  bind(session: () => Session): void {
    this.#reference.bind(session);
  }
}

const ALREADY_IN_USE = 'This SessionManager has an agent already: make another one';

/** The session that a manager reads, once it is open. */
class SessionReference {
  #session: (() => Session) | undefined;

  session(): Session {
    if (!this.#session) throw new Refusal('not_found', 'The session is not open yet: give it to createAgentSession()');
    return this.#session();
  }

  get header() {
    return this.#session?.().log.header;
  }

  get path(): string | undefined {
    return this.#session?.().log.path;
  }

  bind(session: () => Session): void {
    this.#session = session;
  }
}

/** The working folder of a stored session. */
function storedCwd(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    return readHeader(fd)?.cwd;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

async function forkSession(path: string, { cwd, directory }: SessionDirectories): Promise<string> {
  const source = await SessionLog.open(path);
  try {
    const copy = await source.copy({ leafId: source.leafId, directory, cwd });
    await copy.close({ keepEmpty: true });
    return copy.path ?? '';
  } finally {
    await source.close({ keepEmpty: true });
  }
}

async function listSessions(
  sessionDir: string | undefined,
  options: { cwd?: string; also: string | undefined },
): Promise<SessionInfo[]> {
  const list = new SessionList(sessionDir ?? sessionsFolder(agentDir(process.env)));
  const { sessions } = await list.list(options);
  return sessions.map(({ path, id, cwd, name, firstMessage, messageCount, lastModified }) => {
    return { path, id, cwd, name, firstMessage, messageCount, modified: new Date(lastModified) };
  });
}
