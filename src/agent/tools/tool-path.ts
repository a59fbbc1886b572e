import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';

/** Resolves a path of a model against the working directory; understands `~` and a leading `@`. */
export function resolveToolPath(cwd: string, path: string): string {
  if (path.includes('\0')) throw new Error(`A path cannot hold a NUL character: ${JSON.stringify(path)}`);
  const plain = path.replace(/^@/, '').replaceAll(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, ' ');
  if (plain === '~' || plain.startsWith('~/')) return resolve(homedir(), plain.slice(2));
  return resolve(cwd, plain);
}

/**
 * Finds an existing file under its typed name: macOS stores a narrow space before AM and PM, curly apostrophes and
 * decomposed letters. Falls back to `resolveToolPath`.
 */
export function resolveExistingPath(cwd: string, path: string): string {
  const plain = resolveToolPath(cwd, path);
  const narrow = plain.replaceAll(/ (?=[AP]M\.)/gi, '\u202F');
  const curly = plain.replaceAll("'", '\u2019');
  const candidates = [plain, narrow, plain.normalize('NFD'), curly, curly.normalize('NFD'), resolve(cwd, path)];
  return candidates.find((name) => existsSync(name)) ?? plain;
}
