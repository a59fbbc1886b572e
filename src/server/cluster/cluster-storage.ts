import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import { headerOf } from '../../store/sessions/header.ts';
import { summaryAt } from '../../store/sessions/listing/list-sessions.ts';
import { realFolder } from '../../store/sessions/listing/session-files.ts';
import type { OwnedSession, SessionStorage } from '../hosting/storage/session-storage.ts';
import type { Access, SessionTarget } from '../sessions.ts';
import type { ClusterIndex } from './cluster-index.ts';
import type { LogClaim, LogOwnership } from './log/log-ownership.ts';
import { OwnedLog } from './log/owned-log.ts';
import type { Replica, ReplicaFiles } from './log/replica-file.ts';
import { ReplicatedJournal } from './log/replicated-journal.ts';

interface ClusterStorageOptions {
  readonly index: Pick<ClusterIndex, 'put'>;
  /** The name of this node. */
  readonly node: string;
  readonly ownership: LogOwnership;
  readonly files: ReplicaFiles;
  readonly onError: (error: unknown) => void;
}

/** Sessions whose log is in the cluster: agents work on a file that is made from it, and run nothing ahead of it. */
export class ClusterStorage implements SessionStorage {
  readonly #options: ClusterStorageOptions;

  constructor(options: ClusterStorageOptions) {
    this.#options = options;
  }

  async open(target: SessionTarget): Promise<OwnedSession | undefined> {
    // In another folder its tools would work on other files.
    if (!statSync(target.cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new Refusal('session_in_use', `Its folder is missing on node ${this.#options.node}: ${target.cwd}`);
    return this.#open(target);
  }

  async #open(target: SessionTarget): Promise<OwnedSession | undefined> {
    const { ownership, files } = this.#options;
    const claim = await ownership.claim(target.id);
    if (!claim) return undefined;
    try {
      const restored = await files.restore(claim.log, claim.token);
      if (!isPermitted(target, restored)) throw new Refusal('session_not_found', `Session not found: ${target.id}`);
      const isNew = restored.path === undefined && target.kind === 'stored';
      return this.#own(target, { claim, replica: isNew ? await this.#adopt(claim, target.path) : restored });
    } catch (error) {
      await claim.release();
      throw error;
    }
  }

  async fetch({ id }: SessionTarget): Promise<string | undefined> {
    const { ownership, files } = this.#options;
    const claim = await ownership.claim(id);
    if (!claim) throw new Refusal('session_in_use', `Session is in use on another node: ${id}`);
    try {
      return (await files.restore(claim.log, claim.token)).path;
    } finally {
      await claim.release();
    }
  }

  async adopt(target: SessionTarget): Promise<void> {
    await (await this.#open(target))?.release();
  }

  /** Puts a session into the log that an agent of this node created beside its own. */
  async #adopt(claim: LogClaim, path: string): Promise<Replica> {
    await claim.append('entries', readFileSync(path));
    return this.#options.files.describe(path);
  }

  /** Lists a session with its present name, messages and time. */
  async #updateIndex(sessionId: string): Promise<void> {
    const { files, index, node } = this.#options;
    const path = files.find(sessionId);
    const summary = path === undefined ? undefined : await summaryAt(path);
    if (summary) await index.put({ ...summary, path: basename(summary.path), node });
  }

  #own({ id, cwd }: SessionTarget, { claim, replica }: { claim: LogClaim; replica: Replica }): OwnedSession {
    const { files } = this.#options;
    const { path } = replica;
    let send: (frame: object) => void = () => {};
    const onKept = (entryId: string) => send({ type: 'entries_kept', id: entryId });
    const onChange = (sessionId: string) => this.#updateIndex(sessionId);
    const log = new OwnedLog({ ...this.#options, claim, replica, onKept, onChange });
    const entries = () => {
      const { lastEntryId } = log;
      return { entries: true, ...(lastEntryId === undefined ? {} : { entriesAfter: lastEntryId }) };
    };
    const forWriters = <T>(access: Access, value: T, otherwise: T) => (access === 'write' ? value : otherwise);
    return {
      target: path === undefined ? { kind: 'new', id, cwd } : { kind: 'stored', id, cwd, path },
      journal: new ReplicatedJournal(log),
      runs: log.runs,
      pendingRuns: () => log.pendingRuns,
      lost: log.lost,
      agentArgs: (access) => forWriters(access, ['--session-dir', files.folder, '--kept-by-host'], []),
      hello: (access) => forWriters<object>(access, entries(), {}),
      connect: (sendFrame) => {
        send = sendFrame;
      },
      // The log has followed the header of the new session already.
      moveTo: async () => {},
      release: () => log.release(),
    };
  }
}

/** Whether the log holds the session that was requested: not one in the trash, and not one of another folder. */
function isPermitted({ kind, cwd }: SessionTarget, { path, isTrashed }: Replica): boolean {
  if (isTrashed) return false;
  if (kind === 'stored' || path === undefined) return true;
  const header = headerOf(path);
  return typeof header === 'object' && realFolder(header.cwd) === realFolder(cwd);
}
