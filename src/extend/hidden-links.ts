import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { expandHome } from '../store/agent-dir.ts';
import { isPathInside } from '../system/files/path-inside.ts';
import { realPath } from '../system/files/real-path.ts';
import { alwaysHidden } from '../system/sandbox/hidden.ts';

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

/** Whether a file is a link to one that is hidden from the model: a command of the model may have made it. */
export function leadsToHiddenFile(path: string, { agentDir, cwd, hidden = [] }: HiddenPlaces): boolean {
  const real = realPath(path);
  if (real === join(realPath(dirname(path)), basename(path))) return false;
  if (hidden.some((place) => isPathInside(resolve(cwd, expandHome(place)), real))) return true;
  if (PROMPT_FILE.test(basename(real))) return false;
  return ['/proc', agentDir, ...alwaysHidden(homedir())].some((place) => isPathInside(place, real));
}
