import { dirname, join } from 'node:path';
import type { JsonObject } from '../protocol/json.ts';
import { writeFileAtomic } from '../system/files/atomic-write.ts';
import { makePrivateFolder } from '../system/files/make-folder.ts';
import { realPath } from '../system/files/real-path.ts';
import { ConfinedFolders } from './approvals/confined-folders.ts';
import { changeJsonFile, readForChange } from './change-json-file.ts';
import { readJsonObject } from './json-file.ts';

/**
 * Stores which project folders the user trusts to configure the agent: pi's `trust.json`, real paths to true or false.
 *
 * Every call reads the file, so processes see each other's decisions. A malformed file trusts no folder; the next
 * decision renames it to `trust.json.bad`.
 */
export class TrustStore {
  readonly #path: string;
  readonly #confined: ConfinedFolders;

  constructor(agentDir: string) {
    this.#path = join(agentDir, 'trust.json');
    this.#confined = new ConfinedFolders(agentDir);
  }

  /** The decision that applies to a folder; undefined when there is none. */
  isTrusted(cwd: string): boolean | undefined {
    return this.decisionFor(cwd)?.decision;
  }

  /**
   * The nearest decision for the folder or one above it, with the folder it was made for. Trust does not cover a folder
   * below one in which commands were confined: they may have made its `.pi`.
   */
  decisionFor(cwd: string): { path: string; decision: boolean } | undefined {
    const decisions = this.#tryRead();
    const start = realPath(cwd);
    for (let folder = start; ; folder = dirname(folder)) {
      const decision = Object.hasOwn(decisions, folder) ? decisions[folder] : undefined;
      if (typeof decision === 'boolean')
        return decision && folder !== start && this.#confined.read()(dirname(start))
          ? undefined
          : { path: folder, decision };
      if (folder === dirname(folder)) return undefined;
    }
  }

  /** The folders with a decision to trust them. */
  trustedFolders(): string[] {
    return Object.entries(this.#tryRead()).flatMap(([folder, decision]) => (decision === true ? [folder] : []));
  }

  /**
   * Decides at once; null removes a decision. The lock cannot be waited for, so the decisions are repeated with it: a
   * process that holds it now may have read the file before. Throws when the file cannot be read.
   */
  decideNow(decisions: readonly TrustDecision[]): void {
    makePrivateFolder(dirname(this.#path));
    const decided = withDecisions(readForChange(this.#path, CHANGE), decisions);
    writeFileAtomic(this.#path, `${JSON.stringify(decided, null, 2)}\n`, { newMode: CHANGE.mode });
    void this.#decideAll(decisions).catch(() => {});
  }

  /** Processes take turns, each with the decisions of the one before. Rejects when the file cannot be read. */
  decide(path: string, decision: boolean): Promise<void> {
    return this.#decideAll([{ path, decision }]);
  }

  #decideAll(decisions: readonly TrustDecision[]): Promise<void> {
    return changeJsonFile(this.#path, (before) => withDecisions(before, decisions), CHANGE);
  }

  #tryRead(): JsonObject {
    try {
      return readJsonObject(this.#path) ?? {};
    } catch {
      // A malformed or unreadable file trusts no folder.
      return {};
    }
  }
}

// A folder, and whether it is trusted; null: undecided.
interface TrustDecision {
  readonly path: string;
  readonly decision: boolean | null;
}

const CHANGE = { mode: 0o600, name: 'trust.json', malformed: 'rename' } as const;

function withDecisions(before: JsonObject, decisions: readonly TrustDecision[]): JsonObject {
  const after = new Map(Object.entries(before));
  for (const { path, decision } of decisions) {
    if (decision === null) after.delete(realPath(path));
    else after.set(realPath(path), decision);
  }
  return Object.fromEntries([...after].sort(byName));
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
