import { homedir } from 'node:os';
import { resolve } from 'node:path';

/** A path as models write it: relative to the working directory, `~` and a leading `@` understood. */
export function toolPath(cwd: string, path: string): string {
  const plain = path.replace(/^@/, '').replaceAll(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, ' ');
  if (plain === '~' || plain.startsWith('~/')) return resolve(homedir(), plain.slice(2));
  return resolve(cwd, plain);
}
