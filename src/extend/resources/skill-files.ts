import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { IgnoreRules } from '../../agent/tools/search/ignore-rules.ts';
import { messageOf } from '../../protocol/errors.ts';
import { realPath } from '../../system/files/real-path.ts';

/** Limit of nested folders. */
export const MAX_SKILL_DEPTH = 10;

/** Limit of names below one folder. */
export const MAX_NAMES = 10_000;

const IGNORE_FILES = ['.gitignore', '.ignore', '.fdignore'];

/** The candidate skill files below a folder: every SKILL.md, and other .md files in the folder itself. Follows links. */
export async function skillFiles(folder: string, warn: (warning: string) => void): Promise<string[]> {
  const search = new SkillSearch(folder, warn);
  await search.searchFolder(folder, { depth: 0, outer: undefined });
  return search.files;
}

interface Level {
  readonly depth: number;
  readonly outer: IgnoreRules | undefined;
}

class SkillSearch {
  readonly files: string[] = [];
  readonly #root: string;
  readonly #warn: (warning: string) => void;
  readonly #seen = new Set<string>();
  #names = 0;

  constructor(root: string, warn: (warning: string) => void) {
    this.#root = root;
    this.#warn = warn;
  }

  async searchFolder(folder: string, { depth, outer }: Level): Promise<void> {
    if (!this.#isNew(folder)) return;
    const entries = await this.#entriesOf(folder);
    const rules = await IgnoreRules.at(folder, outer, IGNORE_FILES);
    const isIncluded = (path: string, kind: 'file' | 'folder') => !rules?.ignores(path, kind === 'folder');
    const skill = join(folder, 'SKILL.md');
    const skillEntry = entries.find(({ name }) => name === 'SKILL.md');
    if (skillEntry && isIncluded(skill, 'file') && (await kindOf(skillEntry, skill)) === 'file') {
      this.files.push(skill);
      return;
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const kind = await kindOf(entry, path);
      if (!kind || !isIncluded(path, kind)) continue;
      if (kind === 'folder') await this.#searchSubfolder(path, { depth: depth + 1, outer: rules });
      else if (depth === 0 && entry.name.endsWith('.md')) this.files.push(path);
    }
  }

  async #searchSubfolder(folder: string, level: Level): Promise<void> {
    if (level.depth <= MAX_SKILL_DEPTH) await this.searchFolder(folder, level);
    else this.#warn(`${folder} is not searched for skills: it lies more than ${MAX_SKILL_DEPTH} folders deep`);
  }

  // Links may lead to a folder that was searched before.
  #isNew(folder: string): boolean {
    const real = realPath(folder);
    const isNew = !this.#seen.has(real);
    this.#seen.add(real);
    return isNew;
  }

  async #entriesOf(folder: string): Promise<Dirent[]> {
    if (this.#names > MAX_NAMES) return [];
    try {
      const entries = await readdir(folder, { withFileTypes: true });
      this.#names += entries.length;
      if (this.#names <= MAX_NAMES) return entries.filter(isVisible).sort((a, b) => (a.name < b.name ? -1 : 1));
      this.#warn(`${this.#root} holds more than ${MAX_NAMES} names: not all of it is searched for skills`);
    } catch (error) {
      this.#warn(`${folder} is not searched for skills: ${messageOf(error)}`);
    }
    return [];
  }
}

const isVisible = ({ name }: Dirent) => !name.startsWith('.') && name !== 'node_modules';

/** Follows links; undefined for anything that is neither file nor folder. */
export async function kindOf(entry: Dirent, path: string): Promise<'file' | 'folder' | undefined> {
  const stats = entry.isSymbolicLink() ? await stat(path).catch(() => undefined) : entry;
  if (stats?.isDirectory()) return 'folder';
  return stats?.isFile() ? 'file' : undefined;
}
