import { statSync } from 'node:fs';
import { join } from 'node:path';
import { realPath } from '../../system/files/real-path.ts';
import { isBelow } from '../../system/sandbox/roots.ts';
import type { ProgramCheck } from './match-rule.ts';

interface ProgramFolders {
  /** Returns the variable PATH of commands. */
  readonly path: () => string;
  /** The real paths of folders that commands may change. */
  readonly writable: readonly string[];
  /** Whether a path leads through a link that a command may have made. */
  readonly isLed: (path: string) => boolean;
}

/** Returns a check whether the program that PATH gives for a name lies where the model cannot replace it. */
export function programCheck({ path, writable, isLed }: ProgramFolders): ProgramCheck {
  const isWritable = (file: string) => writable.some((root) => isBelow(file, root));
  return (name) => {
    // A path may lead through folders that the model can change.
    if (name.includes('/')) return name.startsWith('/') && !isLed(name) && !isWritable(realPathOf(name) ?? name);
    for (const folder of path().split(':')) {
      // A relative folder depends on where the command runs.
      if (!folder.startsWith('/')) return false;
      const real = realPathOf(join(folder, name));
      // A program that is created there later would come first.
      if (isLed(join(folder, name)) || isWritable(realPathOf(folder) ?? folder)) return false;
      if (real !== undefined && statSync(real, { throwIfNoEntry: false })?.isFile()) return !isWritable(real);
    }
    return false;
  };
}

function realPathOf(path: string): string | undefined {
  try {
    return realPath(path);
  } catch {
    return undefined;
  }
}
