import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { realPath } from '../system/files/real-path.ts';
import { changeJsonFile } from './change-json-file.ts';

type Decisions = Record<string, unknown>;

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
    const decisions = this.#tryRead();
    if (!decisions) return undefined;
    for (let folder = realPath(cwd); ; folder = dirname(folder)) {
      const decision = Object.hasOwn(decisions, folder) ? decisions[folder] : undefined;
      if (typeof decision === 'boolean') return decision;
      if (folder === dirname(folder)) return undefined;
    }
  }

  /** Processes take turns, each with the decisions of the one before. */
  async decide(cwd: string, trusted: boolean): Promise<void> {
    if (!this.#read()) renameSync(this.#path, `${this.#path}.bad`);
    const decided = (before: Decisions) => Object.entries({ ...before, [realPath(cwd)]: trusted }).sort(byName);
    await changeJsonFile(this.#path, (before) => Object.fromEntries(decided(before)), {
      mode: 0o600,
      name: 'trust.json',
    });
  }

  #tryRead(): Decisions | undefined {
    try {
      return this.#read();
    } catch {
      // An unreadable file trusts no folder.
      return undefined;
    }
  }

  /** Undefined for a malformed file. Throws for an unreadable one, which may be well-formed. */
  #read(): Decisions | undefined {
    if (!existsSync(this.#path)) return {};
    // Reading a pipe or a device may block for ever.
    if (!statSync(this.#path).isFile()) throw new Error(`${this.#path} is not a file`);
    try {
      const value: unknown = JSON.parse(readFileSync(this.#path, 'utf8'));
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
