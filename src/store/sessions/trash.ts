import { existsSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import { makePrivateFolder } from '../../system/files/make-folder.ts';
import { realPath } from '../../system/files/real-path.ts';
import { withSessionLock } from './session-file.ts';

/** The folder of trashed sessions, beside the others. pi does not read it either. */
export const TRASH_FOLDER = '.trash';

/** Moves a session that is not open to the trash beside it, and returns its new path. */
export async function moveToTrash(path: string): Promise<string> {
  const file = realPath(path);
  if (basename(dirname(file)) === TRASH_FOLDER) throw new Refusal('invalid_params', `Already in the trash: ${path}`);
  return withSessionLock(path, () => move(file, join(dirname(file), TRASH_FOLDER)));
}

/** Moves a session back from the trash, and returns its new path. */
export async function restoreFromTrash(path: string): Promise<string> {
  const folder = dirname(realPath(path));
  if (basename(folder) !== TRASH_FOLDER) throw new Refusal('session_not_found', `Not in the trash: ${path}`);
  return withSessionLock(path, () => move(realPath(path), dirname(folder)));
}

/** A rename, so that a crash leaves the file in one folder or the other. */
function move(file: string, folder: string): string {
  try {
    makePrivateFolder(folder);
    const target = freePath(folder, basename(file));
    renameSync(file, target);
    return target;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new Refusal('permission_denied', `Session cannot be moved to ${folder}: ${file}`, { cause: error });
  }
}

/** A free name in the folder. A process that moves a file of this name holds its lock, so the name stays free. */
function freePath(folder: string, name: string): string {
  const stem = name.replace(/\.jsonl$/, '');
  for (let number = 1; ; number++) {
    const path = join(folder, number === 1 ? name : `${stem}.${number}.jsonl`);
    if (!existsSync(path)) return path;
  }
}

const isForbidden = (error: unknown) =>
  ['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '');
