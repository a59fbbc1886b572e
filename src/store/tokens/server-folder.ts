import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../system/files/make-folder.ts';

/** The folder of a server's persistent state. */
export const serverFolder = (agentDir: string): string => join(agentDir, 'server');

/** Creates the folder, readable by the user alone. */
export function makeServerFolder(agentDir: string): void {
  const folder = serverFolder(agentDir);
  makeFolder(folder);
  chmodSync(folder, 0o700);
}
