import { accessSync, constants, renameSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { temporaryPathBeside } from '../../../system/files/atomic-write.ts';
import { makePrivateFolder } from '../../../system/files/make-folder.ts';
import { ripgrepPath } from './ripgrep.ts';

interface ProgramOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly programs?: string | undefined;
}

/**
 * Gives the programs that an agent starts an `rg`: a link to tau's ripgrep in the folder `programs`, unless their PATH has
 * one already. Without ripgrep, or if the folder cannot be written, they start without it.
 */
export async function provideRipgrep({ env, programs }: ProgramOptions): Promise<void> {
  if (programs === undefined) return;
  const folders = [programs, ...(env['PATH'] ?? '').split(delimiter)];
  if (folders.some((folder) => canRun(join(folder, 'rg')))) return;
  try {
    const target = await ripgrepPath();
    makePrivateFolder(programs);
    replaceLink(join(programs, 'rg'), target);
  } catch {
    // The programs start without `rg`.
  }
}

/** Makes the path a link in one step, also where it is a link to an installation that was removed. */
function replaceLink(path: string, target: string): void {
  const temporary = temporaryPathBeside(path);
  symlinkSync(target, temporary);
  try {
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary);
    throw error;
  }
}

function canRun(program: string): boolean {
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
