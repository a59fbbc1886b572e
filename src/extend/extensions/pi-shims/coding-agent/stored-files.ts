import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { agentDir } from '../../../../store/agent-dir.ts';
import { type Credential, credentialsPath, readCredentialsFile } from '../../../../store/credentials.ts';
import { TrustStore } from '../../../../store/trust.ts';
import { foldersUpToRepository } from '../../../repository-folders.ts';

/** The credential of a provider in `auth.json`, or in a file like it, as it is stored. */
export function readStoredCredential(providerId: string, authPath?: string): Credential | undefined {
  const path = authPath === undefined ? credentialsPath(agentDir(process.env)) : resolve(authPath);
  return readCredentialsFile(path).credentials.get(providerId);
}

interface TrustUpdate {
  readonly path: string;
  /** Null removes the decision. */
  readonly decision: boolean | null;
}

/** The trusted project folders, under pi's names. Every call reads the file. */
export class ProjectTrustStore {
  readonly #store: TrustStore;

  constructor(folder: string) {
    this.#store = new TrustStore(folder);
  }

  /** The nearest decision for the folder or one above it; null when there is none. */
  get(cwd: string): boolean | null {
    return this.#store.isTrusted(cwd) ?? null;
  }

  getEntry(cwd: string): { path: string; decision: boolean } | null {
    return this.#store.decisionFor(cwd) ?? null;
  }

  set(cwd: string, decision: boolean | null): void {
    this.setMany([{ path: cwd, decision }]);
  }

  setMany(updates: readonly TrustUpdate[]): void {
    this.#store.decideNow(updates);
  }
}

const PROJECT_FILES = [
  'settings.json',
  'mcp.json',
  'SYSTEM.md',
  'APPEND_SYSTEM.md',
  'extensions',
  'skills',
  'prompts',
  'rules',
];

/** Whether a folder has files that tau uses only in a trusted project. */
export const hasTrustRequiringProjectResources = (cwd: string): boolean =>
  ['.pi', join('.pi', 'agent')].some((folder) => PROJECT_FILES.some((name) => existsSync(join(cwd, folder, name)))) ||
  foldersUpToRepository(resolve(cwd)).some((folder) => existsSync(join(folder, '.agents', 'skills')));
