import type { FileAccess } from '../../permission.ts';
import { type ToolOutput, textOutput } from '../../tool.ts';
import { isSearchableFolder } from '../file-checks.ts';
import { printableName, ResultLines } from '../result-lines.ts';
import { fileGlob } from './glob.ts';
import { walk } from './walk.ts';

interface FindRequest {
  readonly pattern: string;
  /** The folder as the model wrote it. */
  readonly path: string;
  readonly folder: string;
  /** Absent: every folder may be searched. */
  readonly files?: FileAccess | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Lists the first paths below a folder that match a pattern. */
export async function findPaths(request: FindRequest): Promise<ToolOutput> {
  const { pattern, limit, signal, files } = request;
  const visible = files && (await visibleFolder(request, files));
  const folder = visible?.folder ?? request.folder;
  if (!(await isSearchableFolder(folder))) throw new Error(`Not a directory: ${folder}`);
  const matches = fileGlob(pattern);
  const lines = new ResultLines();
  let hasMore = false;
  const visit = (path: string, isFolder: boolean) => {
    if (!matches(path, isFolder)) return true;
    hasMore = lines.length === limit;
    return !hasMore && lines.push(printableName(path) + (isFolder ? '/' : ''));
  };
  await walk(folder, { signal, visit, readFolder: visible?.readFolder });
  if (lines.length === 0) return textOutput('No files found matching pattern');
  if (!hasMore) return lines.output();
  return lines.output({
    limitNotice: `${limit} results limit reached. Use limit=${limit * 2} for more, or refine pattern`,
    details: { resultLimitReached: limit },
  });
}

async function visibleFolder({ path, folder }: FindRequest, files: FileAccess) {
  const { readableRoot, readVisibleEntries } = await import('../guarded-files.ts');
  const root = readableRoot({ path, target: folder, files });
  return { folder: root, readFolder: (below: string) => readVisibleEntries(below, files) };
}

/** A search stops after this many paths: completion must keep up with typing. */
export const MAX_VISITED_PATHS = 200_000;

interface PathQuery {
  readonly folder: string;
  readonly query: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

interface PathMatch {
  readonly path: string;
  // Lower is closer.
  readonly distance: number;
}

/** Paths below a folder that match a typed fragment, closest first. Folders end with `/`. */
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

/** Rank of a path: its name starts with the query, contains it, its path does, or only the letters match in order. */
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
