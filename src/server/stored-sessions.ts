import { resolve } from 'node:path';
import type { SessionHeader } from '../protocol/generated/vocabulary.ts';
import { sessionDirFor, sessionsFolder } from '../store/agent-dir.ts';
import { headerOf } from '../store/sessions/header.ts';
import { SessionIndex } from '../store/sessions/listing/find-session.ts';
import { type ListOptions, SessionList, type SessionPage } from '../store/sessions/listing/list-sessions.ts';

/** The part of a stored session that a catalog reads before it is opened. */
export type StoredHeader = Pick<SessionHeader, 'id' | 'cwd'>;

/** The sessions that a server can open, without regard to grants. */
export interface StoredSessions {
  /** The folder that holds their files; others can be opened by their path, if this is a folder of this machine alone. */
  readonly folder: string;
  /** The session headers that searches by id have read so far. */
  readonly headersRead: number;
  /** Whether a session without its folder is refused when it is opened. */
  readonly refusesMissingFolders: boolean;
  /** The path of a session on this machine, for a path that another one may have named. */
  ownPath(path: string): string;
  list(options: ListOptions): Promise<SessionPage>;
  /** The path of the session with exactly this id. */
  find(id: string): Promise<string | undefined>;
  /** The same, without a search for a session that is not known. */
  findKnown(id: string): Promise<string | undefined>;
  /** The next search for this id looks again. */
  forgetUnknown(id: string): void;
  headerOf(path: string): StoredHeader | 'missing' | 'foreign';
}

/** The session files of this machine. */
export class StoredFiles implements StoredSessions {
  readonly folder: string;
  readonly refusesMissingFolders = false;
  readonly headerOf = headerOf;
  readonly #list: SessionList;
  readonly #index: SessionIndex;

  constructor({ agentDir, cwd }: { agentDir: string; cwd: string }) {
    this.folder = sessionsFolder(agentDir);
    this.#list = new SessionList(this.folder);
    this.#index = new SessionIndex(this.folder, resolve(sessionDirFor(agentDir, cwd)));
  }

  get headersRead(): number {
    return this.#index.headersRead;
  }

  ownPath(path: string): string {
    return path;
  }

  list(options: ListOptions): Promise<SessionPage> {
    return this.#list.list(options);
  }

  find(id: string): Promise<string | undefined> {
    return this.#index.find(id);
  }

  findKnown(id: string): Promise<string | undefined> {
    return this.#index.findKnown(id);
  }

  forgetUnknown(id: string): void {
    this.#index.forgetUnknown(id);
  }
}
