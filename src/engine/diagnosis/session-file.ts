import { access, constants } from 'node:fs/promises';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { lockHolder } from '../../system/files/lock.ts';
import { fine, problem } from './finding.ts';

const CHECK = 'session file';

/** Checks that the session file exists, is writable and is locked by this process. */
export async function sessionFileFinding(path: string | undefined): Promise<Finding> {
  if (path === undefined) return fine(CHECK, 'None: the session is kept in memory only');
  try {
    await access(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return problem(
      CHECK,
      isMissing ? `${path} was removed. ${NEW_SESSION_ADVICE}` : `${path} cannot be written. ${PERMISSIONS_ADVICE}`,
    );
  }
  const holder = await lockHolder(path);
  if (holder?.pid === process.pid) return fine(CHECK, path);
  const holderText = holder ? `process ${holder.pid ?? 'unknown'} holds it` : 'nobody holds it';
  return problem(CHECK, `${path} is not locked by this process: ${holderText}. ${NEW_SESSION_ADVICE}`);
}

const NEW_SESSION_ADVICE = 'Nothing more can be stored in it: begin another session with new_session';
const PERMISSIONS_ADVICE = 'Change its permissions, or begin another session with new_session';
