import { access, constants, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { fine, problem, warning } from './finding.ts';

type Standing = 'fine' | 'missing' | 'no folder' | 'unreadable' | 'unwritable';

/** The folder that tools work in. */
export async function workingFolderFinding(path: string): Promise<Finding> {
  const check = 'working folder';
  switch (await standing(path)) {
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

/** Where long outputs and pipes of commands go. */
export async function temporaryFolderFinding(path = tmpdir()): Promise<Finding> {
  const how = await standing(path);
  if (how === 'fine') return fine('temporary folder', path);
  return warning('temporary folder', `${path} is ${how}: long outputs are not kept. Point TMPDIR to a folder of yours`);
}

/** A folder that is made when it is needed. */
export async function futureFolderFinding(check: string, path: string, remedy: string): Promise<Finding> {
  const nearest = await existing(path);
  const how = await standing(nearest);
  if (how !== 'fine') return problem(check, `${path} cannot be used: ${nearest} is ${how}. ${remedy}`);
  return fine(check, nearest === path ? path : `${path} (not there yet)`);
}

/** The path itself or the nearest folder above it that exists. */
export async function existing(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    if (at === dirname(at) || (await standing(at)) !== 'missing') return at;
  }
}

async function standing(path: string): Promise<Standing> {
  try {
    if (!(await stat(path)).isDirectory()) return 'no folder';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable';
  }
  if (!(await may(path, constants.R_OK | constants.X_OK))) return 'unreadable';
  return (await may(path, constants.W_OK)) ? 'fine' : 'unwritable';
}

const may = (path: string, mode: number) =>
  access(path, mode).then(
    () => true,
    () => false,
  );
