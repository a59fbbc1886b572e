import { walk } from './walk.ts';

/** Paths that are looked at before a search gives up: a completion has to come while somebody types. */
export const MAX_LOOKED_AT = 200_000;

interface Wanted {
  readonly folder: string;
  readonly query: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

interface Match {
  readonly path: string;
  /** The lower, the nearer. */
  readonly distance: number;
}

/** The paths below a folder that fit what somebody has typed of one, the nearest first. Those of folders end with `/`. */
export async function matchPaths({ folder, query, limit, signal }: Wanted) {
  const wanted = query.toLowerCase();
  const matches: Match[] = [];
  let lookedAt = 0;
  const visit = (relative: string, isFolder: boolean) => {
    const path = isFolder ? `${relative}/` : relative;
    const distance = distanceOf(path.toLowerCase(), wanted);
    if (distance !== undefined) matches.push({ path, distance });
    return ++lookedAt < MAX_LOOKED_AT;
  };
  await walk(folder, { signal, visit });
  matches.sort((a, b) => a.distance - b.distance || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return { paths: matches.slice(0, limit).map(({ path }) => path), hasMore: matches.length > limit };
}

/** How far a path is from what was typed: its name begins with it, contains it, its path does, or only the letters fit. */
function distanceOf(path: string, wanted: string): number | undefined {
  if (wanted === '') return path.split('/').length;
  const name = path.slice(path.lastIndexOf('/', path.length - 2) + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.includes(wanted)) return 2;
  return hasInOrder(path, wanted) ? 3 : undefined;
}

function hasInOrder(path: string, letters: string): boolean {
  let from = 0;
  for (const letter of letters) {
    const at = path.indexOf(letter, from);
    if (at === -1) return false;
    from = at + letter.length;
  }
  return true;
}
