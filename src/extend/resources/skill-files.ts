import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { IgnoreRules } from '../../agent/tools/ignore-rules.ts';
import { messageOf } from '../../protocol/errors.ts';
import { realPath } from '../../system/files/real-path.ts';

/** How many folders deep skills are looked for. */
export const MAX_DEPTH = 10;

/** How many names are looked at below one folder. */
export const MAX_NAMES = 10_000;

const IGNORE_FILES = ['.gitignore', '.ignore', '.fdignore'];

/**
 * The files below a folder that may be skills: every SKILL.md, and what else ends in .md in the folder itself. Links are
 * followed; what is hidden, ignored or below a skill is passed over.
 */
export async function skillFiles(folder: string, warn: (warning: string) => void): Promise<string[]> {
  const search = new Search(folder, warn);
  await search.inside(folder, { depth: 0, outer: undefined });
  return search.files;
}

interface Level {
  readonly depth: number;
  readonly outer: IgnoreRules | undefined;
}

class Search {
  readonly files: string[] = [];
  readonly #root: string;
  readonly #warn: (warning: string) => void;
  readonly #seen = new Set<string>();
  #names = 0;

  constructor(root: string, warn: (warning: string) => void) {
    this.#root = root;
    this.#warn = warn;
  }

  async inside(folder: string, { depth, outer }: Level): Promise<void> {
    if (!this.#isNew(folder)) return;
    const entries = await this.#entriesOf(folder);
    const rules = await IgnoreRules.at(folder, outer, IGNORE_FILES);
    const isWanted = (path: string, kind: 'file' | 'folder') => !rules?.ignores(path, kind === 'folder');
    const skill = join(folder, 'SKILL.md');
    const own = entries.find(({ name }) => name === 'SKILL.md');
    if (own && isWanted(skill, 'file') && (await kindOf(own, skill)) === 'file') {
      this.files.push(skill);
      return;
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const kind = await kindOf(entry, path);
      if (!kind || !isWanted(path, kind)) continue;
      if (kind === 'folder') await this.#deeper(path, { depth: depth + 1, outer: rules });
      else if (depth === 0 && entry.name.endsWith('.md')) this.files.push(path);
    }
  }

  async #deeper(folder: string, level: Level): Promise<void> {
    if (level.depth <= MAX_DEPTH) await this.inside(folder, level);
    else this.#warn(`${folder} is not searched for skills: it lies more than ${MAX_DEPTH} folders deep`);
  }

  /** Links may lead to where we have been. */
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
      if (this.#names <= MAX_NAMES) return entries.filter(isShown).sort((a, b) => (a.name < b.name ? -1 : 1));
      this.#warn(`${this.#root} holds more than ${MAX_NAMES} names: not all of it is searched for skills`);
    } catch (error) {
      this.#warn(`${folder} is not searched for skills: ${messageOf(error)}`);
    }
    return [];
  }
}

const isShown = ({ name }: Dirent) => !name.startsWith('.') && name !== 'node_modules';

/** What a name stands for, links followed; undefined for what is neither. */
export async function kindOf(entry: Dirent, path: string): Promise<'file' | 'folder' | undefined> {
  const about = entry.isSymbolicLink() ? await stat(path).catch(() => undefined) : entry;
  if (about?.isDirectory()) return 'folder';
  return about?.isFile() ? 'file' : undefined;
}
