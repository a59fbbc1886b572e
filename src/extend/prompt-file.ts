import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** More than this is no advice any more. */
export const MAX_PROMPT_BYTES = 256 * 1024;

/** The text of a file that people wrote for the model; undefined when there is none that can be read. */
export function readWords(path: string): string | undefined {
  let fd: number;
  try {
    // Most of the time it is not there, and an exception costs more than a look.
    if (!existsSync(path)) return undefined;
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return undefined;
    const bytes = Buffer.alloc(Math.min(stats.size, MAX_PROMPT_BYTES));
    const text = bytes
      .subarray(0, readSync(fd, bytes))
      .toString()
      .replace(/^\uFEFF/, '');
    return stats.size > MAX_PROMPT_BYTES ? `${text}\n[The rest of ${path} is left out: it is too long.]` : text;
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** SYSTEM.md or APPEND_SYSTEM.md: the project's, if it is trusted, else the user's. */
export function promptFile(name: string, { agentDir, cwd, trusted }: PromptPlaces): string | undefined {
  const folders = [...(trusted ? [join(cwd, '.pi'), join(cwd, '.pi', 'agent')] : []), agentDir];
  for (const folder of folders) {
    const text = readWords(join(folder, name));
    if (text !== undefined) return text;
  }
  return undefined;
}

export interface PromptPlaces {
  readonly agentDir: string;
  readonly cwd: string;
  readonly trusted: boolean;
}
