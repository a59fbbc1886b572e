import { type Stats, statSync } from 'node:fs';

/** The properties of a file; undefined if it is missing or cannot be reached, for whatever reason. */
export function reachableStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
