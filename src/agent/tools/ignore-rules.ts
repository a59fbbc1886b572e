import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { nameGlob, pathGlob } from './glob.ts';

/** A longer .gitignore was not written by hand, and is not read. */
const MAX_IGNORE_FILE_BYTES = 1024 * 1024;

interface Rule {
  readonly matches: (path: string, name: string) => boolean;
  readonly foldersOnly: boolean;
  readonly verdict: 'ignored' | 'included';
}

/** What the .gitignore files say that hold for a folder. The deepest file that has something to say decides. */
export class IgnoreRules {
  readonly #folder: string;
  /** The last one first: it has the last word. */
  readonly #rules: readonly Rule[];
  readonly #outer: IgnoreRules | undefined;

  private constructor(folder: string, rules: readonly Rule[], outer: IgnoreRules | undefined) {
    this.#folder = folder;
    this.#rules = rules;
    this.#outer = outer;
  }

  /** The rules from above a folder that hold in it: those of its repository, or of all folders above where there is none. */
  static async above(folder: string): Promise<IgnoreRules | undefined> {
    const parent = dirname(folder);
    if (parent === folder || existsSync(join(folder, '.git'))) return undefined;
    const rules = await IgnoreRules.at(parent, await IgnoreRules.above(parent));
    // Whoever names an ignored folder wants to see what is inside.
    return rules?.ignores(folder, true) ? undefined : rules;
  }

  /** The rules inside a folder, given those that come from above. Of several files the last has the last word. */
  static async at(
    folder: string,
    outer: IgnoreRules | undefined,
    names: readonly string[] = ['.gitignore'],
  ): Promise<IgnoreRules | undefined> {
    const texts = await Promise.all(names.map((name) => readIgnoreFile(join(folder, name))));
    const rules = texts.flatMap((text) => (text ? parseRules(text) : [])).reverse();
    return rules.length > 0 ? new IgnoreRules(folder, rules, outer) : outer;
  }

  /** Whether something directly or deeper inside the folder is ignored, as far as it is not for a folder on the way. */
  ignores(path: string, isFolder: boolean): boolean {
    const below = path.slice(this.#folder === '/' ? 1 : this.#folder.length + 1);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const rule = this.#rules.find(({ matches, foldersOnly }) => (isFolder || !foldersOnly) && matches(below, name));
    return rule ? rule.verdict === 'ignored' : (this.#outer?.ignores(path, isFolder) ?? false);
  }
}

/** Whether a folder belongs to a git repository. */
export function isInRepository(folder: string): boolean {
  const parent = dirname(folder);
  return existsSync(join(folder, '.git')) || (parent !== folder && isInRepository(parent));
}

async function readIgnoreFile(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(path);
    return stats.isFile() && stats.size <= MAX_IGNORE_FILE_BYTES ? await readFile(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

const parseRules = (text: string): Rule[] =>
  text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .flatMap(parseRule);

function parseRule(line: string): Rule[] {
  if (line.startsWith('#')) return [];
  const [, exclamation, pattern = '', slash] = /^(!?)(.*?)(\/?)$/su.exec(withoutTrailingSpaces(line)) ?? [];
  if (pattern === '') return [];
  return [{ matches: ruleTest(pattern), foldersOnly: slash !== '', verdict: exclamation ? 'included' : 'ignored' }];
}

/** A pattern with a `/` before its end is one for the path from the folder of its file, others are for names. */
function ruleTest(pattern: string): Rule['matches'] {
  if (pattern.includes('/')) return pathGlob(pattern.replace(/^\//, ''));
  const test = nameGlob(pattern);
  return (_path, name) => test(name);
}

function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ' && line[end - 2] !== '\\') end--;
  return line.slice(0, end);
}
