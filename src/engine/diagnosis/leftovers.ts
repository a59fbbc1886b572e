import { lstat, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { fifoFolders } from '../../system/processes/guardian.ts';
import { taggedProcesses } from '../../system/processes/process-table.ts';
import { sizeText } from '../../system/size-text.ts';
import { fine, warning } from './finding.ts';

// Output logs stay until the user removes them; beyond this size a warning is due.
const LOG_WARNING_BYTES = 1024 * 1024 * 1024;
// Limit of inspected files per temporary folder.
const MAX_TEMPORARY_FILES = 10_000;

/** Reports the user's output logs in the temporary folder. */
export async function outputLogsFinding(folder = tmpdir()): Promise<Finding> {
  const logs = await ownFiles(folder, /^pi-bash-[0-9a-f]+\.log$/);
  const bytes = logs.reduce((sum, { size }) => sum + size, 0);
  const text = `${logs.length} in ${folder}, ${sizeText(bytes)}`;
  return bytes < LOG_WARNING_BYTES
    ? fine('output logs', text)
    : warning('output logs', `${text}. Remove those that you no longer need: ${join(folder, 'pi-bash-*.log')}`);
}

/** Reports pipes that a crashed agent left behind. */
export async function pipesFinding(folders = fifoFolders()): Promise<Finding> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const files = await ownFiles(folder, /^tau-[0-9a-f]{16}(-\d+)?$/);
      return files.filter((file) => file.isFifo).map(({ path }) => path);
    }),
  );
  const pipes = found.flat();
  if (pipes.length === 0) return fine('pipes', 'None is left over');
  return warning('pipes', `Left over unless an agent is starting a command: ${pipes.join(', ')}. They can be removed`);
}

/** Reports processes of dead agents that the guardian did not end. */
export async function orphansFinding(): Promise<Finding> {
  const orphans = (await taggedProcesses()).filter(({ tag }) => !isAlive(agentOf(tag))).map(({ pid }) => pid);
  if (orphans.length === 0) return fine('processes', 'None was left behind by an agent');
  const pids = orphans.join(' ');
  return warning('processes', `Left behind by an agent that has ended: ${pids}. Inspect them, then: kill ${pids}`);
}

/** The pid of the innermost agent in a process tag. */
const agentOf = (tag: string) => Number.parseInt(tag.slice(tag.lastIndexOf('/') + 1), 36);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function ownFiles(folder: string, name: RegExp) {
  const names = (await readdir(folder).catch(() => []))
    .filter((candidate) => name.test(candidate))
    .slice(0, MAX_TEMPORARY_FILES);
  const files: { path: string; size: number; isFifo: boolean }[] = [];
  for (const path of names.map((found) => join(folder, found))) {
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.uid === process.getuid?.())
      files.push({ path, size: stats?.size ?? 0, isFifo: stats?.isFIFO() ?? false });
  }
  return files;
}
