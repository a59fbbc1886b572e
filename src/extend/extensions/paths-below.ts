import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The search of a package ends after this number of paths. */
export const MAX_PATHS = 10_000;

/** All paths below a folder without hidden names and `node_modules`. Links are listed, not followed. */
export function pathsBelow(root: string): string[] {
  const found: string[] = [];
  const folders = [root];
  for (const folder of folders) {
    for (const entry of entriesOf(folder)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (found.length === MAX_PATHS) return found;
      const path = join(folder, entry.name);
      found.push(path);
      if (entry.isDirectory()) folders.push(path);
    }
  }
  return found;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
