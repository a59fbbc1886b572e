import { dirname, join } from 'node:path';
import type { JsonObject } from '../protocol/json.ts';
import { writeFileAtomic } from '../system/files/atomic-write.ts';
import { makePrivateFolder } from '../system/files/make-folder.ts';
import { realPath } from '../system/files/real-path.ts';
import { changeJsonFile } from './change-json-file.ts';
import { readJsonObject } from './json-file.ts';

/**
 * Stores which project folders the user trusts to configure the agent: pi's `trust.json`, real paths to true or false.
 *
 * Every call reads the file, so processes see each other's decisions. A malformed file trusts no folder; the next
 * decision renames it to `trust.json.bad`.
 */
export class TrustStore {
  readonly #path: string;

  constructor(agentDir: string) {
    this.#path = join(agentDir, 'trust.json');
  }

  /** The nearest decision for the folder or one above it; undefined when there is none. */
  isTrusted(cwd: string): boolean | undefined {
    return this.decisionFor(cwd)?.decision;
  }

  /** That decision with the folder it was made for. */
  decisionFor(cwd: string): { path: string; decision: boolean } | undefined {
    const decisions = this.#tryRead();
    for (let folder = realPath(cwd); ; folder = dirname(folder)) {
      const decision = Object.hasOwn(decisions, folder) ? decisions[folder] : undefined;
      if (typeof decision === 'boolean') return { path: folder, decision };
      if (folder === dirname(folder)) return undefined;
    }
  }

  /** Decides at once, without waiting for other processes; null removes a decision. */
  decideNow(updates: readonly { readonly path: string; readonly decision: boolean | null }[]): void {
    const decisions = new Map(Object.entries(this.#tryRead()));
    for (const { path, decision } of updates) {
      if (decision === null) decisions.delete(realPath(path));
      else decisions.set(realPath(path), decision);
    }
    makePrivateFolder(dirname(this.#path));
    const sorted = Object.fromEntries([...decisions].sort(byName));
    writeFileAtomic(this.#path, `${JSON.stringify(sorted, null, 2)}\n`, { newMode: 0o600 });
  }

  /** Processes take turns, each with the decisions of the one before. Rejects when the file cannot be read. */
  async decide(cwd: string, trusted: boolean): Promise<void> {
    const decided = (before: JsonObject) => Object.entries({ ...before, [realPath(cwd)]: trusted }).sort(byName);
    await changeJsonFile(this.#path, (before) => Object.fromEntries(decided(before)), {
      mode: 0o600,
      name: 'trust.json',
      malformed: 'rename',
    });
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

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
