import { access, constants, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { sizeText } from '../../system/size-text.ts';
import { fine, problem, warning } from './finding.ts';

type FolderStatus = 'fine' | 'missing' | 'no folder' | 'unreadable' | 'unwritable';

/** Checks the folder that tools work in. */
export async function workingFolderFinding(path: string): Promise<Finding> {
  const check = 'working folder';
  switch (await folderStatus(path)) {
    case 'fine':
      return fine(check, path);
    case 'missing':
      return problem(check, `${path} does not exist. Make it, or begin a session in another folder`);
    case 'no folder':
      return problem(check, `${path} is not a folder. Begin a session in another one`);
    case 'unreadable':
      return problem(check, `${path} cannot be read. Change its permissions, or begin a session in another folder`);
    case 'unwritable':
      return warning(
        check,
        `${path} cannot be written: tools can only look. Change its permissions if they shall do more`,
      );
  }
}

/** Checks the folder for output logs and command pipes. */
export async function temporaryFolderFinding(path = tmpdir()): Promise<Finding> {
  const status = await folderStatus(path);
  if (status === 'fine') return fine('temporary folder', path);
  return warning(
    'temporary folder',
    `${path} is ${status}: long outputs are not kept. Point TMPDIR to a folder of yours`,
  );
}

/** Checks a folder that is created on demand. */
export async function futureFolderFinding(check: string, path: string, remedy: string): Promise<Finding> {
  const nearest = await nearestExisting(path);
  const status = await folderStatus(nearest);
  if (status !== 'fine') return problem(check, `${path} cannot be used: ${nearest} is ${status}. ${remedy}`);
  return fine(check, nearest === path ? path : `${path} (not there yet)`);
}

/** Returns the path or its nearest existing parent. */
export async function nearestExisting(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    if (at === dirname(at) || (await folderStatus(at)) !== 'missing') return at;
  }
}

async function folderStatus(path: string): Promise<FolderStatus> {
  try {
    if (!(await stat(path)).isDirectory()) return 'no folder';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable';
  }
  if (!(await canAccess(path, constants.R_OK | constants.X_OK))) return 'unreadable';
  return (await canAccess(path, constants.W_OK)) ? 'fine' : 'unwritable';
}

const canAccess = (path: string, mode: number) =>
  access(path, mode).then(
    () => true,
    () => false,
  );

// With less free space a long output or session may not fit.
const LOW_BYTES = 256 * 1024 * 1024;

/** Reports the free space of existing or future folders, once per device. */
export async function diskSpaceFinding(folders: readonly string[], low = LOW_BYTES): Promise<Finding> {
  const rooms = new Map<number, { folder: string; bytes: number }>();
  for (const requested of folders) {
    const folder = await nearestExisting(requested);
    const { dev } = await stat(folder);
    const { bavail, bsize } = await statfs(folder);
    if (!rooms.has(dev)) rooms.set(dev, { folder, bytes: bavail * bsize });
  }
  const short = [...rooms.values()].filter(({ bytes }) => bytes < low);
  if (short.length === 0) return fine('disk space', roomText([...rooms.values()]));
  return warning('disk space', `${roomText(short)}: make room, or a run may end because it cannot be stored`);
}

const roomText = (rooms: readonly { folder: string; bytes: number }[]) =>
  rooms.map(({ folder, bytes }) => `${sizeText(bytes)} free in ${folder}`).join(', ');
