import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';

/** Returns the path that stands for an absolute path of the model. */
export type TranslatePath = (path: string) => string;

const unchanged: TranslatePath = (path) => path;

/** Resolves a path of a model against the working directory; understands `~` and a leading `@`. */
export function resolveToolPath(cwd: string, path: string, translate = unchanged): string {
  if (path.includes('\0')) throw new Error(`A path cannot hold a NUL character: ${JSON.stringify(path)}`);
  const plain = path.replace(/^@/, '').replaceAll(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, ' ');
  if (plain === '~' || plain.startsWith('~/')) return translate(resolve(homedir(), plain.slice(2)));
  return translate(resolve(cwd, plain));
}

/**
 * Finds an existing file under its typed name: macOS stores a narrow space before AM and PM, curly apostrophes and
 * decomposed letters. Falls back to `resolveToolPath`.
 */
export function resolveExistingPath(cwd: string, path: string, translate = unchanged): string {
  const plain = resolveToolPath(cwd, path, translate);
  const narrow = plain.replaceAll(/ (?=[AP]M\.)/gi, '\u202F');
  const curly = plain.replaceAll("'", '\u2019');
  const candidates = [
    plain,
    narrow,
    plain.normalize('NFD'),
    curly,
    curly.normalize('NFD'),
    translate(resolve(cwd, path)),
  ];
  return candidates.find((name) => existsSync(name)) ?? plain;
}
