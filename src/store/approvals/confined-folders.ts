import { dirname, join } from 'node:path';
import type { JsonObject } from '../../protocol/json.ts';
import { changeJsonFile } from '../change-json-file.ts';
import { readJsonObject } from '../json-file.ts';

/**
 * Stores the folders that commands in a sandbox could change: `confined-folders.json` in the agent folder, by real path.
 *
 * A sandbox protects `.pi` in such a folder, but a command can make a `.pi` in a folder below.
 */
export class ConfinedFolders {
  readonly #path: string;

  constructor(agentDir: string) {
    this.#path = join(agentDir, NAME);
  }

  /** Reads which folders commands in a sandbox could change, by real path: those listed and all below; all for a malformed file. */
  read(): (folder: string) => boolean {
    const listed = this.#tryRead();
    return (folder) => isListed(listed, folder);
  }

  /** Lists real paths for good. Rejects if the file cannot be read or written. */
  async add(folders: readonly string[]): Promise<void> {
    const isNew = (listed: JsonObject) => (folder: string) => !isListed(listed, folder);
    if (!folders.some(isNew(this.#tryRead() ?? {}))) return;
    await changeJsonFile(
      this.#path,
      (before) => {
        const listed = [...Object.keys(before), ...folders.filter(isNew(before))].sort();
        return Object.fromEntries(listed.map((folder) => [folder, true]));
      },
      { mode: 0o600, name: NAME },
    );
  }

  // Undefined for a malformed file.
  #tryRead(): JsonObject | undefined {
    try {
      return readJsonObject(this.#path) ?? {};
    } catch {
      return undefined;
    }
  }
}

const NAME = 'confined-folders.json';

/** Whether a folder or one above it is listed. */
function isListed(listed: JsonObject | undefined, folder: string): boolean {
  if (listed === undefined || Object.hasOwn(listed, folder)) return true;
  const above = dirname(folder);
  return above !== folder && isListed(listed, above);
}
