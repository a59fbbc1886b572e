import { lstatSync } from 'node:fs';
import { landingPath } from '../../system/files/open-inside.ts';
import { resolveExistingPath, resolveToolPath, type TranslatePath } from './tool-path.ts';

/** The file or folder that a call of a file tool would use. */
export interface FileTarget {
  /** As the model wrote it. */
  readonly path: string;
  /** Where it leads after all symlinks, existing or not. */
  readonly realPath: string;
  readonly exists: boolean;
  readonly isFolder: boolean;
  /** True for a file with other hard links: a write changes the file under these names too. */
  readonly hasOtherNames: boolean;
}

const TOOLS_FOR_EXISTING_FILES = new Set(['read', 'edit']);
const TOOLS_WITH_DEFAULT_FOLDER = new Set(['ls', 'find', 'grep']);

/** The arguments of a call, after `prepareArguments`, and the folder of the session. */
export interface FileCall {
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly cwd: string;
  /** As in `FileAccess`. */
  readonly translate?: TranslatePath | undefined;
}

/**
 * Finds the path that a call of read, ls, find, grep, write or edit would use; undefined for other tools. Throws for a
 * path that no file can have and for a loop of links: the tool would fail too.
 */
export function fileTargetOf({ toolName, args, cwd, translate }: FileCall): FileTarget | undefined {
  const mustExist = TOOLS_FOR_EXISTING_FILES.has(toolName);
  const hasDefault = TOOLS_WITH_DEFAULT_FOLDER.has(toolName);
  if (!mustExist && !hasDefault && toolName !== 'write') return undefined;
  const path = String(args['path'] ?? (hasDefault ? '.' : undefined));
  const resolve = mustExist ? resolveExistingPath : resolveToolPath;
  const realPath = landingPath(resolve(cwd, path, translate));
  const stats = statsOf(realPath);
  const isFolder = stats?.isDirectory() ?? false;
  const hasOtherNames = stats !== undefined && !isFolder && stats.nlink > 1;
  return { path, realPath, exists: stats !== undefined, isFolder, hasOtherNames };
}

function statsOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Below a file, or in an unreadable folder.
    return undefined;
  }
}
