import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';

/** A path as models write it: relative to the working directory, `~` and a leading `@` understood. */
export function resolveToolPath(cwd: string, path: string): string {
  if (path.includes('\0')) throw new Error(`A path cannot hold a NUL character: ${JSON.stringify(path)}`);
  const plain = path.replace(/^@/, '').replaceAll(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, ' ');
  if (plain === '~' || plain.startsWith('~/')) return resolve(homedir(), plain.slice(2));
  return resolve(cwd, plain);
}

/**
 * The file that a path means, also when its name is one that nobody types: macOS puts a narrow space before AM and PM,
 * a curly apostrophe, and letters apart from their marks. Where there is none, the path as `toolPath` reads it.
 */
export function resolveExistingPath(cwd: string, path: string): string {
  const plain = resolveToolPath(cwd, path);
  const narrow = plain.replaceAll(/ (?=[AP]M\.)/gi, '\u202F');
  const curly = plain.replaceAll("'", '\u2019');
  const candidates = [plain, narrow, plain.normalize('NFD'), curly, curly.normalize('NFD'), resolve(cwd, path)];
  return candidates.find((name) => existsSync(name)) ?? plain;
}
