import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { nameGlob, pathGlob } from './glob.ts';

// A longer .gitignore is machine-made and is not read.
const MAX_IGNORE_FILE_BYTES = 1024 * 1024;

interface Rule {
  readonly matches: (path: string, name: string) => boolean;
  readonly foldersOnly: boolean;
  readonly verdict: 'ignored' | 'included';
}

/** Ignore rules of the .gitignore files that apply to a folder. The deepest file with a matching rule decides. */
export class IgnoreRules {
  readonly #folder: string;
  /** Last rule first: later rules override earlier ones. */
  readonly #rules: readonly Rule[];
  readonly #outer: IgnoreRules | undefined;

  private constructor(folder: string, rules: readonly Rule[], outer: IgnoreRules | undefined) {
    this.#folder = folder;
    this.#rules = rules;
    this.#outer = outer;
  }

  /** Rules from above a folder: those of its repository, or of all parent folders outside of one. */
  static async above(folder: string): Promise<IgnoreRules | undefined> {
    const parent = dirname(folder);
    if (parent === folder || existsSync(join(folder, '.git'))) return undefined;
    const rules = await IgnoreRules.at(parent, await IgnoreRules.above(parent));
    // A user who names an ignored folder wants to see its content.
    return rules?.ignores(folder, true) ? undefined : rules;
  }

  /** Rules inside a folder on top of the outer ones. Later files override earlier ones. */
  static async at(
    folder: string,
    outer: IgnoreRules | undefined,
    names: readonly string[] = ['.gitignore'],
  ): Promise<IgnoreRules | undefined> {
    const texts = await Promise.all(names.map((name) => readIgnoreFile(join(folder, name))));
    const rules = texts.flatMap((text) => (text ? parseRules(text) : [])).reverse();
    return rules.length > 0 ? new IgnoreRules(folder, rules, outer) : outer;
  }

  /** Whether a path inside the folder is ignored by itself; ignored parent folders are not considered. */
  ignores(path: string, isFolder: boolean): boolean {
    const below = path.slice(this.#folder === '/' ? 1 : this.#folder.length + 1);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const rule = this.#rules.find(({ matches, foldersOnly }) => (isFolder || !foldersOnly) && matches(below, name));
    return rule ? rule.verdict === 'ignored' : (this.#outer?.ignores(path, isFolder) ?? false);
  }
}

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

/** A pattern with a `/` before its end matches the path from its folder; others match names. */
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
