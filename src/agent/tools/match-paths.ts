import { walk } from './walk.ts';

/** Paths that are looked at before a search gives up: a completion has to come while somebody types. */
export const MAX_VISITED_PATHS = 200_000;

interface PathQuery {
  readonly folder: string;
  readonly query: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

interface PathMatch {
  readonly path: string;
  /** The lower, the nearer. */
  readonly distance: number;
}

/** The paths below a folder that fit what somebody has typed of one, the nearest first. Those of folders end with `/`. */
export async function matchPaths({ folder, query, limit, signal }: PathQuery) {
  const lowerQuery = query.toLowerCase();
  const matches: PathMatch[] = [];
  let visited = 0;
  const visit = (relative: string, isFolder: boolean) => {
    const path = isFolder ? `${relative}/` : relative;
    const distance = distanceOf(path.toLowerCase(), lowerQuery);
    if (distance !== undefined) matches.push({ path, distance });
    return ++visited < MAX_VISITED_PATHS;
  };
  await walk(folder, { signal, visit });
  matches.sort((a, b) => a.distance - b.distance || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return { paths: matches.slice(0, limit).map(({ path }) => path), hasMore: matches.length > limit };
}

/** How far a path is from what was typed: its name begins with it, contains it, its path does, or only the letters fit. */
function distanceOf(path: string, query: string): number | undefined {
  if (query === '') return path.split('/').length;
  const name = path.slice(path.lastIndexOf('/', path.length - 2) + 1);
  if (name.startsWith(query)) return 0;
  if (name.includes(query)) return 1;
  if (path.includes(query)) return 2;
  return containsInOrder(path, query) ? 3 : undefined;
}

function containsInOrder(path: string, letters: string): boolean {
  let from = 0;
  for (const letter of letters) {
    const at = path.indexOf(letter, from);
    if (at === -1) return false;
    from = at + letter.length;
  }
  return true;
}
