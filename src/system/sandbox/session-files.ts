import { execFile } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { guardLeftover, releaseLeftover, startGuardian } from '../processes/guardian.ts';
import { randomBytes } from '../random-bytes.ts';

/** The files of one sandbox on the host. No command can reach any but `tmp`. */
export interface SessionFiles {
  /** Is `/tmp` inside. */
  readonly tmp: string;
  /** An empty file, mounted over hidden files. */
  readonly empty: string;
  /** The seccomp filter. */
  readonly filter: string;
  readonly remove: () => Promise<void>;
}

const REMOVE_RETRIES = 5;

/** Makes the private folder of a sandbox. The guardian removes it when this process dies. */
export function makeSessionFiles(filter: Buffer): SessionFiles {
  const folder = join(realpathSync(tmpdir()), `tau-sandbox-${randomBytes(8).toString('hex')}`);
  const [tmp, empty, filterFile] = [join(folder, 'tmp'), join(folder, 'empty'), join(folder, 'filter')];
  const leftover = { kind: 'tree', path: folder } as const;
  startGuardian();
  guardLeftover(leftover);
  try {
    mkdirSync(folder, { mode: 0o700 });
    mkdirSync(tmp, { mode: 0o700 });
    writeFileSync(empty, '', { mode: 0o400 });
    writeFileSync(filterFile, filter, { mode: 0o400 });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    releaseLeftover(leftover);
    throw error;
  }
  const remove = async () => {
    const removeAll = () => rm(folder, { recursive: true, force: true, maxRetries: REMOVE_RETRIES });
    try {
      // A process that is just ending may still write.
      await removeAll();
    } catch {
      // Commands leave folders without write permission, such as caches of modules.
      await promisify(execFile)('/bin/chmod', ['-R', 'u+rwX', folder]).catch(() => {});
      await removeAll();
    }
    releaseLeftover(leftover);
  };
  return { tmp, empty, filter: filterFile, remove };
}
