import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../system/files/make-folder.ts';

/** The folder of what a server keeps between starts. */
export const serverFolder = (agentDir: string): string => join(agentDir, 'server');

/** Makes it, and lets nobody but the user look into it. */
export function makeServerFolder(agentDir: string): void {
  const folder = serverFolder(agentDir);
  makeFolder(folder);
  chmodSync(folder, 0o700);
}
