import { accessSync, constants, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isBelow } from './roots.ts';

// Only the administrator can write to these. PATH may name a folder that commands of the model can write to.
const TRUSTED_FOLDERS = [
  '/usr/bin',
  '/usr/local/bin',
  '/bin',
  '/run/current-system/sw/bin',
  '/nix/var/nix/profiles/default/bin',
];

/** Programs of the system that build a sandbox, by absolute path. */
export interface SandboxPrograms {
  readonly bwrap: string | undefined;
  /** Absent: no cell; each command has namespaces of its own. */
  readonly nsenter: string | undefined;
}

/** Finds the programs in the folders of the system, but none that a command could replace. */
export const findPrograms = (writable: readonly string[], folders: readonly string[] = TRUSTED_FOLDERS) => ({
  bwrap: findProgram('bwrap', writable, folders),
  nsenter: findProgram('nsenter', writable, folders),
});

function findProgram(name: string, writable: readonly string[], folders: readonly string[]): string | undefined {
  return folders
    .map((folder) => join(folder, name))
    .find((path) => isExecutable(path) && !writable.some((root) => isBelow(realpathSync(path), root)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
