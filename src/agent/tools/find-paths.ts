import { type ToolOutput, textOutput } from '../tool.ts';
import { fileGlob } from './glob.ts';
import { ResultLines, printableName } from './result-lines.ts';
import { isSearchableFolder } from './search-root.ts';
import { walk } from './walk.ts';

interface FindRequest {
  readonly pattern: string;
  readonly folder: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Lists the first paths below a folder that match a pattern. */
export async function findPaths({ pattern, folder, limit, signal }: FindRequest): Promise<ToolOutput> {
  if (!(await isSearchableFolder(folder))) throw new Error(`Not a directory: ${folder}`);
  const matches = fileGlob(pattern);
  const lines = new ResultLines();
  let hasMore = false;
  const visit = (path: string, isFolder: boolean) => {
    if (!matches(path, isFolder)) return true;
    hasMore = lines.length === limit;
    return !hasMore && lines.push(printableName(path) + (isFolder ? '/' : ''));
  };
  await walk(folder, { signal, visit });
  if (lines.length === 0) return textOutput('No files found matching pattern');
  if (!hasMore) return lines.output();
  return lines.output({
    limitNotice: `${limit} results limit reached. Use limit=${limit * 2} for more, or refine pattern`,
    details: { resultLimitReached: limit },
  });
}
