import { statSync } from 'node:fs';
import { headerOf } from '../../store/sessions/header.ts';

/**
 * Puts the copies of one session in order, the longest first, so that the log gets the longest; the sessions stay in the
 * order of their first copies.
 */
export function longestFirst(paths: readonly string[], fileOf: (path: string) => string): readonly string[] {
  const copies = new Map<string, { path: string; size: number }[]>();
  for (const path of paths) {
    const file = fileOf(path);
    const header = headerOf(file);
    // What is no session is reported in its turn.
    const key = typeof header === 'object' ? `session ${header.id}` : `file ${path}`;
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    copies.set(key, [...(copies.get(key) ?? []), { path, size }]);
  }
  return [...copies.values()].flatMap((same) =>
    same.sort((one, other) => other.size - one.size).map(({ path }) => path),
  );
}
