import { access, constants, stat } from 'node:fs/promises';

/** Whether the search root is a folder. Throws if it is missing or unreadable. */
export async function isSearchableFolder(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats) throw new Error(`Path not found: ${path}`);
  if (!stats.isDirectory()) return false;
  await access(path, constants.R_OK | constants.X_OK).catch(() => {
    throw new Error(`Permission denied: ${path}`);
  });
  return true;
}
