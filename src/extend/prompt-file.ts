import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';

/** Longer files are cut. */
export const MAX_PROMPT_BYTES = 256 * 1024;

/** Reads a prompt file; undefined if it is not a readable file. */
export function tryReadPromptFile(path: string): string | undefined {
  try {
    // Usually the file is missing, and a check is cheaper than an exception.
    return existsSync(path) ? readPromptFile(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a prompt file; throws if it is not a readable file. */
export function readPromptFile(path: string): string {
  // Opening a pipe must not block.
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

/** SYSTEM.md or APPEND_SYSTEM.md of the trusted project, else of the user. A blank file is ignored. */
export function findPromptFile(name: string, { agentDir, cwd, trusted }: PromptLocations): string | undefined {
  const folders = [...(trusted ? [join(cwd, '.pi'), join(cwd, '.pi', 'agent')] : []), agentDir];
  for (const folder of folders) {
    const text = tryReadPromptFile(join(folder, name));
    if (text?.trim()) return text;
  }
  return undefined;
}

/** The prompt files of an untrusted project, which are ignored. */
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
  /** Files and folders that the settings hide from the model. */
  readonly hidden?: readonly string[] | undefined;
}
