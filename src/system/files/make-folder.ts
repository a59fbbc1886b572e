import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

// A folder that only its owner can read.
const PRIVATE = 0o700;

/** Creates a folder and its missing parents for the user alone, or throws the system's error. */
export const makePrivateFolder = (path: string): void => makeFolder(path, PRIVATE);

/**
 * Creates a folder and its missing parents, or throws the system's error. The umask removes bits of the mode.
 *
 * Node's recursive `mkdir` never returns where the system cannot create names, as in `/proc`.
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  if (!exists(dirname(path))) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

// True for a file too: creating a folder in it then fails with the error of the system.
const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;
