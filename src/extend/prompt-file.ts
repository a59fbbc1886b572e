import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';

/** More than this is no advice any more. */
export const MAX_PROMPT_BYTES = 256 * 1024;

/** The text of a file that people wrote for the model; undefined when there is none that can be read. */
export function tryReadPromptFile(path: string): string | undefined {
  try {
    // Most of the time it is not there, and an exception costs more than a look.
    return existsSync(path) ? readPromptFile(path) : undefined;
  } catch {
    return undefined;
  }
}

/** The same; throws when there is none. */
export function readPromptFile(path: string): string {
  // A pipe by that name must not make us wait for its writer.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error(`Not a file: ${path}`);
    const bytes = Buffer.alloc(Math.min(stats.size, MAX_PROMPT_BYTES));
    const decoder = new StringDecoder();
    const text = decoder.write(bytes.subarray(0, readSync(fd, bytes))).replace(/^\uFEFF/, '');
    if (stats.size <= MAX_PROMPT_BYTES) return text + decoder.end();
    return `${text}\n[The rest of ${path} is left out: it is too long.]`;
  } finally {
    closeSync(fd);
  }
}

/** SYSTEM.md or APPEND_SYSTEM.md: the project's, if it is trusted, else the user's. A blank one says nothing. */
export function findPromptFile(name: string, { agentDir, cwd, trusted }: PromptLocations): string | undefined {
  const folders = [...(trusted ? [join(cwd, '.pi'), join(cwd, '.pi', 'agent')] : []), agentDir];
  for (const folder of folders) {
    const text = tryReadPromptFile(join(folder, name));
    if (text?.trim()) return text;
  }
  return undefined;
}

/** The files of a project that say nothing because it is not trusted. */
export function untrustedPromptFiles({ cwd, trusted }: PromptLocations): string[] {
  if (trusted || !existsSync(join(cwd, '.pi'))) return [];
  return [join(cwd, '.pi'), join(cwd, '.pi', 'agent')]
    .flatMap((folder) => ['SYSTEM.md', 'APPEND_SYSTEM.md'].map((name) => join(folder, name)))
    .filter((path) => existsSync(path));
}

export interface PromptLocations {
  readonly agentDir: string;
  readonly cwd: string;
  readonly trusted: boolean;
}
