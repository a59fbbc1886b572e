import { homedir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { expandHome } from '../store/agent-dir.ts';
import { isPathInside } from '../system/files/path-inside.ts';
import { realPath } from '../system/files/real-path.ts';
import { alwaysHidden } from '../system/sandbox/hidden.ts';
import { REPLACED_FOLDERS } from '../system/sandbox/roots.ts';

/** The folders that decide what is hidden from the model. */
export interface HiddenPlaces {
  readonly agentDir: string;
  readonly cwd: string;
  /** Files and folders of the settings, relative to the folder of the session. */
  readonly hidden?: readonly string[] | undefined;
}

// Users keep such files beside credentials, and link to them.
const PROMPT_FILE = /^(?:AGENTS(?:\.override)?|CLAUDE|SKILL)\.md$/i;

/** The reason against such a file. */
export const HIDDEN_TARGET = 'it is a link to a file that is hidden from the model';

/** Whether links lead to a file that is hidden from the model: a command of the model may have made one of them. */
export function leadsToHiddenFile(path: string, { agentDir, cwd, hidden = [] }: HiddenPlaces): boolean {
  const real = realPath(path);
  if (real === resolve(path)) return false;
  const isIn = (place: string) => isPathInside(place, real) && !isPathInside(place, cwd);
  if (hidden.some((place) => isIn(resolve(cwd, expandHome(place))))) return true;
  if (PROMPT_FILE.test(basename(real))) return false;
  const isOfAgent = isPathInside(agentDir, dirname(path));
  return [...REPLACED_FOLDERS, ...(isOfAgent ? [] : [agentDir]), ...alwaysHidden(homedir())].some(isIn);
}
